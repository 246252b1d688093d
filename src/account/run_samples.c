/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/run_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"

/* Programs run in far fewer places; beyond these, samples have none. */
enum { PLACES_MAX = 1 << 15, LEVELS_MAX = 1 << 17, ACTIVE_MAX = 1 << 16 };

struct run_samples {
	struct arena *arena;
	struct table *by_hash;
	struct run_place **places;
	size_t place_count, place_capacity, level_count;
	uint64_t count;
	uint64_t *count_at; /* [active] */
	size_t count_in_table;
};

struct run_samples *run_samples_new(void)
{
	struct run_samples *samples = xcalloc(1, sizeof(*samples));

	samples->arena = arena_new();
	samples->by_hash = table_new();
	return samples;
}

void run_samples_free(struct run_samples *samples)
{
	if (!samples)
		return;
	arena_free(samples->arena);
	table_free(samples->by_hash);
	free(samples->places);
	free(samples->count_at);
	free(samples);
}

static uint64_t hash_of(const struct thread *thread, const struct ev_sched_sample *e)
{
	uint64_t space = (uint64_t)thread->exec_count << 32 | thread->pid;

	return hash_u64(e->ip ^ hash_u64(e->kernel_ip ^ hash_u64(space)));
}

/* NULL when there is no space for another one. */
static struct run_place *get_place(struct run_samples *samples, const struct thread *thread, uint64_t now_ns,
				   const struct ev_sched_sample *e)
{
	uint64_t hash = hash_of(thread, e);
	struct run_place *place = table_find(samples->by_hash, hash);

	if (place || samples->place_count == PLACES_MAX)
		return place;
	ARRAY_GROW(samples->places, samples->place_count, samples->place_capacity, 64);
	place = arena_alloc(samples->arena, sizeof(*place));
	place->pid = thread->pid;
	place->first_ns = now_ns;
	place->ip = e->ip;
	place->kernel_ip = e->kernel_ip;
	table_put(samples->by_hash, hash, place);
	samples->places[samples->place_count++] = place;
	return place;
}

static void add_level(struct run_samples *samples, struct run_place *place, uint32_t active)
{
	struct run_level *level = place->levels;

	while (level && level->active != active)
		level = level->next;
	if (!level) {
		if (samples->level_count == LEVELS_MAX)
			return;
		samples->level_count++;
		level = arena_alloc(samples->arena, sizeof(*level));
		level->active = active;
		level->next = place->levels;
		place->levels = level;
	}
	level->count++;
}

static void add_name(struct run_place *place, const struct thread *thread)
{
	for (size_t i = 0; i < place->name_count; i++)
		if (!strcmp(place->names[i], thread->name))
			return;
	if (place->name_count < RUN_NAMES_MAX)
		memcpy(place->names[place->name_count++], thread->name, sizeof(thread->name));
}

static void count_at(struct run_samples *samples, uint32_t active)
{
	size_t capacity = samples->count_in_table ? samples->count_in_table : 64;

	while (capacity <= active)
		capacity *= 2;
	if (capacity != samples->count_in_table) {
		samples->count_at = xrealloc(samples->count_at, capacity, sizeof(*samples->count_at));
		memset(samples->count_at + samples->count_in_table, 0,
		       (capacity - samples->count_in_table) * sizeof(*samples->count_at));
		samples->count_in_table = capacity;
	}
	samples->count_at[active]++;
}

void run_samples_add(struct run_samples *samples, const struct thread *thread, uint64_t now_ns,
		     const struct ev_sched_sample *e, const struct ev_sched_sample *before, uint32_t active)
{
	struct run_place *place = get_place(samples, thread, now_ns, e);

	if (active >= ACTIVE_MAX)
		active = ACTIVE_MAX - 1;
	samples->count++;
	count_at(samples, active);
	if (!place)
		return;
	place->count++;
	add_level(samples, place, active);
	add_name(place, thread);
	sample_pairs_add(&place->pairs, before, e);
}

uint64_t run_samples_count(const struct run_samples *samples)
{
	return samples->count;
}

uint64_t run_samples_count_at(const struct run_samples *samples, uint32_t active)
{
	return active < samples->count_in_table ? samples->count_at[active] : 0;
}

const struct run_place *run_samples_place(const struct run_samples *samples, size_t index)
{
	return index < samples->place_count ? samples->places[index] : NULL;
}
