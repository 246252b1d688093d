/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/run_moments.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

/* OPEN: moments that later samples may still be near to. */
enum { WAITS_MAX = 1 << 15, OPEN_MAX = 256 };

struct run_moments {
	struct arena *arena; /* of waits */
	size_t wait_count;
	struct run_moment *kept;
	size_t count, capacity;
	uint64_t all_count;
	uint32_t open[OPEN_MAX]; /* indices of those kept */
	size_t open_count;
};

struct run_moments *run_moments_new(void)
{
	struct run_moments *moments = xcalloc(1, sizeof(*moments));

	moments->arena = arena_new();
	return moments;
}

void run_moments_free(struct run_moments *moments)
{
	if (!moments)
		return;
	for (size_t i = 0; i < moments->count; i++)
		free(moments->kept[i].others);
	free(moments->kept);
	arena_free(moments->arena);
	free(moments);
}

static void close_moment(struct run_moments *moments, size_t index)
{
	for (size_t i = 0; i < moments->open_count; i++)
		if (moments->open[i] == index)
			moments->open[i--] = moments->open[--moments->open_count];
}

/* Where the moment is to be kept; MOMENTS_MAX: nowhere. */
static size_t place_of(struct run_moments *moments)
{
	uint64_t place;

	if (moments->count < MOMENTS_MAX)
		return moments->count;
	place = hash_u64(moments->all_count) % moments->all_count;
	return place < MOMENTS_MAX ? place : MOMENTS_MAX;
}

struct run_moment *run_moments_add(struct run_moments *moments, const struct run_moment *moment)
{
	struct moment_other *others = NULL;
	size_t index, capacity = 0;

	moments->all_count++;
	index = place_of(moments);
	if (index == MOMENTS_MAX)
		return NULL;
	if (index == moments->count) {
		ARRAY_GROW(moments->kept, moments->count, moments->capacity, 64);
		moments->count++;
	} else {
		others = moments->kept[index].others;
		capacity = moments->kept[index].other_capacity;
		close_moment(moments, index);
	}
	moments->kept[index] = *moment;
	moments->kept[index].others = others;
	moments->kept[index].other_capacity = capacity;
	moments->kept[index].other_count = 0;
	if (moments->open_count < OPEN_MAX)
		moments->open[moments->open_count++] = index;
	return &moments->kept[index];
}

/* NULL: all of them run. */
static struct moment_other *find_still(struct run_moment *moment)
{
	for (size_t i = 0; i < moment->other_count; i++)
		if (moment->others[i].phase != PHASE_RUNNING)
			return &moment->others[i];
	return NULL;
}

void run_moment_add_other(struct run_moment *moment, const struct moment_other *other)
{
	struct moment_other *place;

	if (moment->other_count == MOMENT_OTHERS_MAX) {
		place = other->phase == PHASE_RUNNING ? find_still(moment) : NULL;
		if (place)
			*place = *other;
		return;
	}
	ARRAY_GROW(moment->others, moment->other_count, moment->other_capacity, 4);
	moment->others[moment->other_count++] = *other;
}

struct moment_wait *run_moments_new_wait(struct run_moments *moments)
{
	if (moments->wait_count == WAITS_MAX)
		return NULL;
	moments->wait_count++;
	return arena_alloc(moments->arena, sizeof(struct moment_wait));
}

static void note(struct run_moment *moment, uint64_t away_ns, uint32_t thread, const struct code_sample *code)
{
	for (size_t i = 0; i < moment->other_count; i++) {
		struct moment_other *other = &moment->others[i];

		if (other->thread != thread || other->phase != PHASE_RUNNING ||
		    (other->code && other->away_ns <= away_ns))
			continue;
		other->code = code;
		other->away_ns = away_ns;
	}
}

void run_moments_note_sample(struct run_moments *moments, uint64_t time_ns, uint32_t thread, uint64_t slice_begin_ns,
			     const struct code_sample *code)
{
	for (size_t i = 0; i < moments->open_count; i++) {
		struct run_moment *moment = &moments->kept[moments->open[i]];

		if (time_ns - moment->time_ns > moment->near_ns)
			moments->open[i--] = moments->open[--moments->open_count];
		else if (slice_begin_ns <= moment->time_ns && moment->thread != thread)
			note(moment, time_ns - moment->time_ns, thread, code);
	}
}

/* is_awake: of those that are active. */
static bool is_late(const struct moment_other *other, const struct moment_judge *judge, bool is_awake)
{
	if ((other->phase != PHASE_BLOCKED) != is_awake)
		return false;
	if (!is_awake)
		return judge->holds_up(judge->data, other->wait);
	return other->code && !judge->spins(judge->data, other->code);
}

static size_t find_late(const struct run_moment *moment, const struct moment_judge *judge, bool is_awake,
			bool is_member, const struct moment_other **late)
{
	size_t count = 0;

	for (size_t i = 0; i < moment->other_count; i++) {
		const struct moment_other *other = &moment->others[i];

		if (judge->is_member(judge->data, other->thread) == is_member && is_late(other, judge, is_awake))
			late[count++] = other;
	}
	return count;
}

static bool has_unknown(const struct run_moment *moment)
{
	for (size_t i = 0; i < moment->other_count; i++)
		if (moment->others[i].phase == PHASE_RUNNING && !moment->others[i].code)
			return true;
	return false;
}

size_t run_moment_late(const struct run_moment *moment, const struct moment_judge *judge,
		       const struct moment_other **late)
{
	size_t count = find_late(moment, judge, true, true, late);

	if (count || has_unknown(moment))
		return count;
	count = find_late(moment, judge, true, false, late);
	if (!count)
		count = find_late(moment, judge, false, true, late);
	return count ? count : find_late(moment, judge, false, false, late);
}

const struct run_moment *run_moments_at(const struct run_moments *moments, size_t index)
{
	return index < moments->count ? &moments->kept[index] : NULL;
}

uint64_t run_moments_count(const struct run_moments *moments)
{
	return moments->all_count;
}
