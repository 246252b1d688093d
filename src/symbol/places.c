/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"
#include "symbol/answer_cache.h"
#include "symbol/asker.h"
#include "symbol/names/names.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

enum {
	PLACES_MAX = 200000, /* remembered; others are asked for each time */
	TOGETHER_MAX = 256,  /* questions put ahead of the answers' use */
	OFFSET_BITS = 44,    /* larger files than that cannot be mapped */
};

struct places {
	struct asker *asker;
	struct names *names;
	struct answer_cache *cache; /* NULL: none */
	struct arena *arena;
	struct table *table;   /* by module and offset */
	struct place *scratch; /* with space for SYMBOL_INLINE_MAX frames */
};

struct places *places_new(struct asker *asker, struct names *names)
{
	struct places *places = xcalloc(1, sizeof(*places));

	places->asker = asker;
	places->names = names;
	places->arena = arena_new();
	places->table = table_new();
	places->scratch = xcalloc(1, sizeof(*places->scratch) + SYMBOL_INLINE_MAX * sizeof(struct symbol_frame));
	return places;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	arena_free(places->arena);
	table_free(places->table);
	free(places->scratch);
	free(places);
}

void places_use_cache(struct places *places, struct answer_cache *cache)
{
	places->cache = cache;
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

struct place_question {
	uint64_t offset;
	bool has_lines;
	const struct answer *answer;
};

static int put_question(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct place_question *question = data;
	int err = worker_ask(worker, module, question->offset, has_debug, &question->answer);

	question->has_lines = has_debug;
	if (!err)
		*flags = question->answer->flags;
	return err;
}

/* NULL: an earlier run did not keep it. */
static const struct answer *find_cached(const struct places *places, const struct module *module, uint64_t offset,
					bool wants_lines)
{
	if (!places->cache)
		return NULL;
	return wants_lines ? answer_cache_find(places->cache, module, offset)
			   : answer_cache_find_function(places->cache, module, offset);
}

static void keep(struct places *places, const struct module *module, const struct place_question *question,
		 bool wants_lines)
{
	if (!places->cache || question->has_lines != wants_lines)
		return;
	if (wants_lines)
		answer_cache_add(places->cache, module, question->offset, question->answer);
	else
		answer_cache_add_function(places->cache, module, question->offset, question->answer);
}

static void ask(struct places *places, struct module *module, uint64_t offset, bool wants_lines, struct place *place)
{
	struct place_question question = { .offset = offset };
	const struct answer *answer;

	place->function_offset = UINT64_MAX;
	place->count = 0;
	answer = find_cached(places, module, offset, wants_lines);
	if (answer) {
		asker_learn(places->asker, module, wants_lines ? answer->flags : 0);
		set_place(places, answer, place);
		return;
	}
	if (asker_ask(places->asker, module, wants_lines, put_question, &question))
		return;
	set_place(places, question.answer, place);
	keep(places, module, &question, wants_lines);
}

static uint64_t place_key(const struct module *module, uint64_t offset)
{
	return (uint64_t)module->number << OFFSET_BITS | offset;
}

const struct place *places_get(struct places *places, struct module *module, uint64_t offset, bool wants_lines)
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

/* Whether the worker has to be asked. */
static bool is_question(const struct places *places, const struct place_request *request, bool wants_lines)
{
	const struct place *place = table_find(places->table, place_key(request->module, request->offset));

	if (request->offset >> OFFSET_BITS || (place && (place->has_lines || !wants_lines)))
		return false;
	return !find_cached(places, request->module, request->offset, wants_lines);
}

static void ask_ahead(struct places *places, const struct place_request *requests, size_t count, bool wants_lines)
{
	struct worker_question questions[TOGETHER_MAX];
	size_t question_count = 0;

	for (size_t i = 0; i < count; i++)
		if (is_question(places, &requests[i], wants_lines))
			questions[question_count++] = (struct worker_question){
				.module = requests[i].module,
				.kind = WORKER_PLACE,
				.file_offset = requests[i].offset,
				.wants_lines = wants_lines,
			};
	if (question_count > 1)
		asker_ask_ahead(places->asker, questions, question_count);
}

void places_prepare(struct places *places, struct place_request *requests, size_t count, bool wants_lines)
{
	qsort(requests, count, sizeof(*requests), by_place);
	for (size_t i = 0; i < count; i++) {
		if (i % TOGETHER_MAX == 0)
			ask_ahead(places, &requests[i], count - i < TOGETHER_MAX ? count - i : TOGETHER_MAX,
				  wants_lines);
		places_get(places, requests[i].module, requests[i].offset, wants_lines);
	}
}
