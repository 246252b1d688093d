/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of places in files: from memory, from the cache on disk, or from the worker, which
 * is asked for less once a file has made it fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"

struct module;
struct names;
struct notes;
struct places;
struct worker;

/* What is known of a place in a module. */
struct place {
	uint64_t function_offset;	/* ~0: not known */
	uint32_t count;			/* 0: nothing but the offset */
	bool has_lines;			/* they were asked for */
	struct symbol_frame frames[];	/* offset and module are the caller's to fill in */
};

/* Borrows all three. */
struct places *places_new(struct worker *worker, struct names *names, struct notes *notes);
void places_free(struct places *places);

/* See symbols_use_cache(). */
void places_use_cache(struct places *places);
void places_save_cache(struct places *places);

/* Never NULL; valid until the next call, strings as long as the names. */
const struct place *places_get(struct places *places, struct module *module, uint64_t offset,
			       bool wants_lines);

struct place_request {
	struct module *module;
	uint64_t offset;
};

/* Looks places up that will be asked for, with their lines, in the order of the files. Sorts them. */
void places_prepare(struct places *places, struct place_request *requests, size_t count);
