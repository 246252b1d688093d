/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of places in files: from memory, from the cache on disk, or from the worker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/symbol_names.h"

struct answer_cache;
struct asker;
struct module;
struct names;
struct places;

/* What is known about a place in a module. */
struct place {
	uint64_t function_offset;     /* ~0: unknown */
	uint32_t count;               /* 0: nothing but the offset */
	bool has_lines;               /* they were asked for */
	struct symbol_frame frames[]; /* offset and module are the caller's to fill in */
};

/* Borrows both. */
struct places *places_new(struct asker *asker, struct names *names);
void places_free(struct places *places);

/* Borrows the cache. */
void places_use_cache(struct places *places, struct answer_cache *cache);

/* Never NULL; valid until the next call, strings as long as the names. */
const struct place *places_get(struct places *places, struct module *module, uint64_t offset, bool wants_lines);

struct place_request {
	struct module *module;
	uint64_t offset;
};

/*
 * Looks places up that will be asked for, with their lines or without, in the order of the files. Sorts
 * them.
 */
void places_prepare(struct places *places, struct place_request *requests, size_t count, bool wants_lines);
