/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that left no frame, since they went on by a jump: from memory, from the cache on disk, or from the worker. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/symbol_names.h"

struct answer_cache;
struct asker;
struct module;
struct names;
struct tail_calls;

/* Borrows both. */
struct tail_calls *tail_calls_new(struct asker *asker, struct names *names);
void tail_calls_free(struct tail_calls *calls);

/* Borrows the cache. */
void tail_calls_use_cache(struct tail_calls *calls, struct answer_cache *cache);

/* A call, and the function that was found running within it. Places are offsets in files. */
struct tail_call {
	struct module *caller, *callee;
	uint64_t return_offset;  /* in the caller, where the call returns to */
	uint64_t callee_offset;  /* in the callee, where the function begins */
	const char *callee_name; /* NULL: unknown */
};

/*
 * The functions that were entered in between, innermost first; returns how many, SYMBOL_TAIL_MAX at most. Valid
 * until the next call.
 */
size_t tail_calls_find(struct tail_calls *calls, const struct tail_call *call, const struct symbol_frame **frames);

/* Looks up what will be asked for: together this takes less time. */
void tail_calls_prepare(struct tail_calls *calls, const struct tail_call *list, size_t count);
