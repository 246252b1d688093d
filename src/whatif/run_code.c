/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/run_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "graph/graph_label.h"
#include "report/report_frame.h"

enum { PLACES_MAX = 1 << 16, SAMPLES_MAX = 1 << 26 };

void run_code_init(struct run_code *code)
{
	*code = (struct run_code){ .by_place = table_new() };
}

void run_code_fini(struct run_code *code)
{
	if (code->by_place)
		table_free(code->by_place);
	free(code->places);
	free(code->samples);
	*code = (struct run_code){ 0 };
}

/* The first place is that of all which are too many. */
static uint32_t place_of(struct run_code *code, uint32_t pid, const struct ev_sched_sample *e)
{
	uint64_t key = hash_u64(e->ip ^ hash_u64(e->kernel_ip ^ hash_u64(e->stack ^ hash_u64(pid))));
	uintptr_t at = (uintptr_t)table_find(code->by_place, key);

	if (at)
		return at - 1;
	if (!code->place_count) {
		ARRAY_GROW(code->places, code->place_count, code->place_capacity, 64);
		code->places[code->place_count++] = (struct run_place){ .is_named = true };
	}
	if (code->place_count == PLACES_MAX)
		return 0;
	ARRAY_GROW(code->places, code->place_count, code->place_capacity, 64);
	code->places[code->place_count++] = (struct run_place){
		.stack = e->stack,
		.ip = e->ip,
		.kernel_ip = e->kernel_ip,
		.time_ns = e->header.time_ns,
		.thread = e->header.thread,
		.pid = pid,
	};
	table_put(code->by_place, key, (void *)(uintptr_t)code->place_count);
	return code->place_count - 1;
}

void run_code_add(struct run_code *code, uint32_t pid, const struct ev_sched_sample *e)
{
	struct run_sample_at sample = { e->header.time_ns, e->header.thread, 0 };

	if (code->sample_count == SAMPLES_MAX)
		return;
	sample.place = place_of(code, pid, e);
	code->places[sample.place].count++;
	ARRAY_GROW(code->samples, code->sample_count, code->sample_capacity, 1024);
	code->samples[code->sample_count++] = sample;
}

static int by_thread(const void *a, const void *b)
{
	const struct run_sample_at *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void run_code_sort(struct run_code *code)
{
	if (code->sample_count)
		qsort(code->samples, code->sample_count, sizeof(*code->samples), by_thread);
}

/* --- Names ------------------------------------------------------------------------------------ */

/* Of a process: when a function of its interpreter was seen first, and the file that runs it. */
struct interpreter {
	uint64_t time_ns;
	const char *module;
};

static bool is_managed(const char *module)
{
	return module && (!strcmp(module, "[python]") || !strcmp(module, "[ruby]"));
}

/* The module that runs a function of Python or Ruby; NULL: the place is in none. */
static const char *interpreter_of(const struct run_place *place)
{
	for (size_t i = 1; i < place->frame_count; i++)
		if (is_managed(place->frames[i].module))
			return place->frames[i - 1].module;
	return NULL;
}

static struct table *find_interpreters(const struct run_code *code, struct arena *arena)
{
	struct table *found = table_new();

	for (size_t i = 0; i < code->place_count; i++) {
		const struct run_place *place = &code->places[i];
		const char *module = interpreter_of(place);
		struct interpreter *interpreter = module ? table_find(found, place->pid + 1ull) : NULL;

		if (!module || (interpreter && interpreter->time_ns <= place->time_ns))
			continue;
		if (!interpreter)
			interpreter = arena_alloc(arena, sizeof(*interpreter));
		*interpreter = (struct interpreter){ place->time_ns, module };
		table_put(found, place->pid + 1ull, interpreter);
	}
	return found;
}

static bool has_module(const struct run_place *place, const char *module)
{
	for (size_t i = 0; i < place->frame_count; i++)
		if (place->frames[i].module && !strcmp(place->frames[i].module, module))
			return true;
	return false;
}

static void find_partial(struct run_code *code)
{
	struct arena *arena = arena_new();
	struct table *interpreters = find_interpreters(code, arena);

	for (size_t i = 0; i < code->place_count; i++) {
		struct run_place *place = &code->places[i];
		const struct interpreter *interpreter = table_find(interpreters, place->pid + 1ull);

		place->is_partial =
			interpreter && place->time_ns < interpreter->time_ns && has_module(place, interpreter->module);
	}
	table_free(interpreters);
	arena_free(arena);
}

void run_code_name(struct run_code *code, struct graph_labels *labels)
{
	for (size_t i = 0; i < code->place_count; i++) {
		struct run_place *place = &code->places[i];

		if (!place->is_named)
			place->frame_count = graph_sample_frames(labels, place->thread, place->time_ns, place->stack,
								 place->ip, place->kernel_ip, &place->frames);
		place->is_named = true;
	}
	find_partial(code);
}
