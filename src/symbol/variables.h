/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data addresses of processes to variables of files. Only what may be executed is known to be
 * mapped: where a file has its code, its program headers tell where its data is.
 */
#pragma once

#include <stdint.h>

#include "symbol/answer/symbol_names.h"

struct answer_cache;
struct asker;
struct modules;
struct names;
struct spaces;
struct variables;
struct worker;

/* Borrows all of them. */
struct variables *variables_new(struct worker *worker, struct asker *asker, const struct spaces *spaces,
				const struct modules *modules, struct names *names);
void variables_free(struct variables *variables);

/* Borrows the cache. */
void variables_use_cache(struct variables *variables, struct answer_cache *cache);

/* See symbols_resolve_object(). */
int variables_find(struct variables *variables, uint32_t pid, uint64_t time_ns, uint64_t address,
		   struct symbol_object *object);
