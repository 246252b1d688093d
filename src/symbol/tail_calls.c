/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/tail_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"
#include "symbol/answer_cache.h"
#include "symbol/asker.h"
#include "symbol/elf/demangle.h"
#include "symbol/names/names.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

enum {
	CALLS_MAX = 200000, /* remembered; others are asked for each time */
	TOGETHER_MAX = 256, /* questions put ahead of the answers' use */
};

struct known {
	size_t count;
	struct symbol_frame frames[];
};

struct tail_calls {
	struct asker *asker;
	struct names *names;
	struct answer_cache *cache; /* NULL: none */
	struct arena *arena;
	struct table *table;   /* by modules and offsets */
	struct known *scratch; /* with space for SYMBOL_TAIL_MAX frames */
};

struct tail_calls *tail_calls_new(struct asker *asker, struct names *names)
{
	struct tail_calls *calls = xcalloc(1, sizeof(*calls));

	calls->asker = asker;
	calls->names = names;
	calls->arena = arena_new();
	calls->table = table_new();
	calls->scratch = xcalloc(1, sizeof(*calls->scratch) + SYMBOL_TAIL_MAX * sizeof(*calls->scratch->frames));
	return calls;
}

void tail_calls_free(struct tail_calls *calls)
{
	if (!calls)
		return;
	arena_free(calls->arena);
	table_free(calls->table);
	free(calls->scratch);
	free(calls);
}

void tail_calls_use_cache(struct tail_calls *calls, struct answer_cache *cache)
{
	calls->cache = cache;
}

struct missing_request {
	struct worker_call call;
	bool has_lines;
	const struct answer *answer;
};

static int ask_missing(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct missing_request *request = data;

	(void)flags;
	request->has_lines = has_debug;
	return worker_ask_missing(worker, module, &request->call, has_debug, &request->answer);
}

/* NULL: an earlier run did not keep it. */
static const struct answer *find_cached(const struct tail_calls *calls, const struct module *module,
					const struct worker_call *call)
{
	return calls->cache ? answer_cache_find_missing(calls->cache, module, worker_call_place(call)) : NULL;
}

/* From the cache on disk, or from the worker. NULL when neither can say. */
static const struct answer *answer_of(struct tail_calls *calls, struct module *module, const struct worker_call *call)
{
	struct missing_request request = { .call = *call, .answer = find_cached(calls, module, call) };

	if (request.answer)
		return request.answer;
	if (asker_ask(calls->asker, module, true, ask_missing, &request))
		return NULL;
	if (calls->cache && request.has_lines)
		answer_cache_add_missing(calls->cache, module, worker_call_place(call), request.answer);
	return request.answer;
}

struct exported_request {
	const char *name;
	uint64_t file_offset;
	bool is_found;
};

/* That there is none is an answer. */
static int ask_exported(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct exported_request *request = data;
	int err = worker_ask_function(worker, module, request->name, &request->file_offset);

	(void)has_debug, (void)flags;
	request->is_found = !err;
	return err == -ENOENT ? 0 : err;
}

static const char *text_at(struct tail_calls *calls, const struct answer *answer, uint32_t place)
{
	return names_get(calls->names, place ? answer->text + place : NULL);
}

/* Adds the frames of an answer, of a module, from some one on. */
static void add_frames(struct tail_calls *calls, const struct answer *answer, uint32_t first,
		       const struct module *module)
{
	struct known *found = calls->scratch;

	for (uint32_t i = first; i < answer->frame_count && found->count < SYMBOL_TAIL_MAX; i++) {
		const char *function = text_at(calls, answer, answer->frames[i].function);

		found->frames[found->count++] = (struct symbol_frame){
			.function = function,
			.file = text_at(calls, answer, answer->frames[i].file),
			.line = answer->frames[i].line,
			.module = module->name,
			.offset = function ? 0 : answer->function_offset,
		};
	}
}

/*
 * All ways leave the caller's file, by a function that the dynamic linker found: in the callee's file, perhaps. There
 * it may be the callee itself, by another name of its.
 */
static void go_on(struct tail_calls *calls, const struct tail_call *call, const char *name)
{
	struct exported_request exported = { .name = name };
	struct known *found = calls->scratch;
	char function[ANSWER_NAME_BYTES];
	struct worker_call inner = {
		.callee_offset = call->callee_offset,
		.callee_name = call->callee_name,
		.is_entry = true,
	};
	const struct answer *answer;

	if (asker_ask(calls->asker, call->callee, false, ask_exported, &exported) || !exported.is_found ||
	    exported.file_offset == call->callee_offset)
		return;
	inner.file_offset = exported.file_offset;
	answer = answer_of(calls, call->callee, &inner);
	if (!answer)
		return;
	add_frames(calls, answer, answer->flags & ANSWER_GOES_ON ? 1 : 0, call->callee);
	/* Of several names the one that was called by. */
	if (found->count) {
		demangle(name, function, sizeof(function));
		found->frames[found->count - 1].function = names_get(calls->names, function);
	}
}

static struct worker_call question_of(const struct tail_call *call)
{
	return (struct worker_call){
		.file_offset = call->return_offset,
		.callee_offset = call->callee == call->caller ? call->callee_offset : UINT64_MAX,
		.callee_name = call->callee_name,
	};
}

static void ask(struct tail_calls *calls, const struct tail_call *call)
{
	struct worker_call question = question_of(call);
	const struct answer *found = answer_of(calls, call->caller, &question);
	struct answer *answer;

	calls->scratch->count = 0;
	if (!found || !found->frame_count)
		return;
	if (!(found->flags & ANSWER_GOES_ON)) {
		add_frames(calls, found, 0, call->caller);
		return;
	}
	/* The next question takes its place. */
	answer = xcalloc(1, offsetof(struct answer, text) + found->text_bytes);
	memcpy(answer, found, offsetof(struct answer, text) + found->text_bytes);
	go_on(calls, call, answer->text + answer->frames[0].function);
	add_frames(calls, answer, 1, call->caller);
	free(answer);
}

static uint64_t key_of(const struct tail_call *call)
{
	uint64_t caller = hash_u64(call->return_offset ^ hash_u64(call->caller->number));

	return hash_u64(caller ^ hash_u64(call->callee_offset ^ hash_u64(~(uint64_t)call->callee->number)));
}

size_t tail_calls_find(struct tail_calls *calls, const struct tail_call *call, const struct symbol_frame **frames)
{
	uint64_t key = key_of(call);
	struct known *known = table_find(calls->table, key);
	size_t size_bytes;

	if (!known) {
		ask(calls, call);
		known = calls->scratch;
		size_bytes = sizeof(*known) + known->count * sizeof(*known->frames);
		if (table_count(calls->table) < CALLS_MAX) {
			known = memcpy(arena_alloc(calls->arena, size_bytes), known, size_bytes);
			table_put(calls->table, key, known);
		}
	}
	*frames = known->frames;
	return known->count;
}

static void ask_ahead(struct tail_calls *calls, const struct tail_call *list, size_t count)
{
	struct worker_question questions[TOGETHER_MAX];
	size_t question_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct worker_call question = question_of(&list[i]);

		if (table_find(calls->table, key_of(&list[i])) || find_cached(calls, list[i].caller, &question))
			continue;
		questions[question_count++] = (struct worker_question){
			.module = list[i].caller,
			.kind = WORKER_MISSING,
			.wants_lines = true,
			.call = question,
		};
	}
	if (question_count > 1)
		asker_ask_ahead(calls->asker, questions, question_count);
}

void tail_calls_prepare(struct tail_calls *calls, const struct tail_call *list, size_t count)
{
	const struct symbol_frame *frames;

	for (size_t i = 0; i < count; i++) {
		if (i % TOGETHER_MAX == 0)
			ask_ahead(calls, &list[i], count - i < TOGETHER_MAX ? count - i : TOGETHER_MAX);
		tail_calls_find(calls, &list[i], &frames);
	}
}
