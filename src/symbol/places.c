/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer.h"
#include "symbol/answer_cache.h"
#include "symbol/module.h"
#include "symbol/names.h"
#include "symbol/notes.h"
#include "symbol/worker.h"

enum {
	PLACES_MAX = 200000,		/* remembered; others are asked for each time */
	OFFSET_BITS = 44,		/* larger files than that cannot be mapped */
};

static const uint64_t spent_ns_max = 60000000000ull;	/* on one module's file */

struct places {
	struct worker *worker;
	struct names *names;
	struct notes *notes;
	struct answer_cache *cache;	/* NULL: none */
	struct arena *arena;
	struct table *table;		/* by module and offset */
	struct place *scratch;		/* with room for SYMBOL_INLINE_MAX frames */
	bool has_noted_worker;
};

struct places *places_new(struct worker *worker, struct names *names, struct notes *notes)
{
	struct places *places = xcalloc(1, sizeof(*places));

	places->worker = worker;
	places->names = names;
	places->notes = notes;
	places->arena = arena_new();
	places->table = table_new();
	places->scratch = xcalloc(1, sizeof(*places->scratch) +
				     SYMBOL_INLINE_MAX * sizeof(struct symbol_frame));
	return places;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	answer_cache_free(places->cache);
	arena_free(places->arena);
	table_free(places->table);
	free(places->scratch);
	free(places);
}

void places_use_cache(struct places *places)
{
	if (!places->cache)
		places->cache = answer_cache_new();
}

void places_save_cache(struct places *places)
{
	if (places->cache)
		answer_cache_save(places->cache);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const char *text_at(const struct answer *answer, uint32_t place)
{
	return place ? answer->text + place : NULL;
}

static void set_place(struct places *places, const struct answer *answer, struct place *place)
{
	place->function_offset = answer->function_offset;
	place->count = answer->frame_count;
	for (uint32_t i = 0; i < answer->frame_count; i++)
		place->frames[i] = (struct symbol_frame){
			.function = names_get(places->names, text_at(answer, answer->frames[i].function)),
			.file = names_get(places->names, text_at(answer, answer->frames[i].file)),
			.line = answer->frames[i].line,
			.is_inlined = i + 1 < answer->frame_count,
		};
}

/* Asks for less when a file made more fail. */
static void ask(struct places *places, struct module *module, uint64_t offset, bool wants_lines,
		struct place *place)
{
	const struct answer *answer;
	int err = 0;

	place->function_offset = UINT64_MAX;
	place->count = 0;
	answer = places->cache && wants_lines ? answer_cache_find(places->cache, module, offset)
					       : NULL;
	if (answer) {
		set_place(places, answer, place);
		return;
	}
	while (!module_has_failed(module)) {
		bool asks_lines = wants_lines && !module->failure_count;
		uint64_t begin_ns = now_ns();

		err = worker_ask(places->worker, module, offset, asks_lines, &answer);
		module->spent_ns += now_ns() - begin_ns;
		if (!err) {
			module->flags |= answer->flags & ~(uint32_t)ANSWER_BY_SYMBOLS;
			set_place(places, answer, place);
			if (places->cache && asks_lines)
				answer_cache_add(places->cache, module, offset, answer);
		} else if (err == -ECHILD) {
			module->failure_count = asks_lines ? 1 : MODULE_FAILURES_MAX;
			continue;
		}
		break;
	}
	if (module->spent_ns > spent_ns_max && !module_has_failed(module)) {
		module->failure_count++;
		module->spent_ns = 0;
	}
	if (!module_has_failed(module) && err == -ECANCELED) {
		if (!places->has_noted_worker)
			notes_add(places->notes, "the process that reads symbols failed too often:"
				  " functions are shown as offsets");
		places->has_noted_worker = true;
	} else if (!module_has_failed(module) && err) {
		notes_add(places->notes, "cannot read %s: %s", module->path, strerror(-err));
		module->failure_count = MODULE_FAILURES_MAX;
		module->noted_flags = ~0u;
	}
	notes_add_module(places->notes, module);
}

static uint64_t place_key(const struct module *module, uint64_t offset)
{
	return (uint64_t)module->number << OFFSET_BITS | offset;
}

const struct place *places_get(struct places *places, struct module *module, uint64_t offset,
			       bool wants_lines)
{
	uint64_t key = place_key(module, offset);
	struct place *place, *scratch = places->scratch;
	size_t size_bytes;

	scratch->count = 0;
	scratch->function_offset = UINT64_MAX;
	if (offset >> OFFSET_BITS)
		return scratch;
	place = table_find(places->table, key);
	if (place && (place->has_lines || !wants_lines))
		return place;
	ask(places, module, offset, wants_lines, scratch);
	scratch->has_lines = wants_lines;
	if (!place && table_count(places->table) >= PLACES_MAX)
		return scratch;
	size_bytes = sizeof(*place) + scratch->count * sizeof(*place->frames);
	place = arena_alloc(places->arena, size_bytes);
	memcpy(place, scratch, size_bytes);
	table_put(places->table, key, place);
	return place;
}

static int by_place(const void *a, const void *b)
{
	const struct place_request *x = a, *y = b;

	if (x->module != y->module)
		return x->module->number < y->module->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

void places_prepare(struct places *places, struct place_request *requests, size_t count)
{
	qsort(requests, count, sizeof(*requests), by_place);
	for (size_t i = 0; i < count; i++)
		places_get(places, requests[i].module, requests[i].offset, true);
}
