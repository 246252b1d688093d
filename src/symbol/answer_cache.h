/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of earlier runs, on disk, in $XDG_CACHE_HOME/pinch or ~/.cache/pinch: a file for each file that
 * answers are about, as it is and with its debug files as they are: by their device, inode, size, times and
 * contents. Answers are kept only if root or this user made all of these, and only those that nothing went
 * wrong with; when a debug file is installed, what had none gets another file. Files are written again and
 * renamed, so that several runs do not disturb each other; one that is damaged counts as empty. Without a
 * directory of our own nothing is kept.
 */
#pragma once

#include "symbol/answer/answer.h"
#include "symbol/space/module.h"

struct answer_book;
struct answer_cache;

struct answer_cache *answer_cache_new(void);
void answer_cache_free(struct answer_cache *cache);

/*
 * Says which files answers about a module come from. 0, or -errno. It is asked once for each module, before
 * anything else about it; without it nothing is kept.
 */
typedef int answer_sources_fn(void *data, const struct module *module, struct sources_answer *sources);

/* Whether the module's file is still as it was. */
typedef bool answer_unchanged_fn(void *data, const struct module *module);

void answer_cache_use_sources(struct answer_cache *cache, answer_sources_fn *sources, answer_unchanged_fn *is_unchanged,
			      void *data);

/* What is found is put into a book as well; borrowed. */
void answer_cache_use_book(struct answer_cache *cache, struct answer_book *book);

/* NULL when it is not there; valid until answer_cache_free(), as the module has to be. */
const struct answer *answer_cache_find(struct answer_cache *cache, const struct module *module, uint64_t file_offset);

void answer_cache_add(struct answer_cache *cache, const struct module *module, uint64_t file_offset,
		      const struct answer *answer);

/* The same for what symbols alone say of a place. Its flags say nothing of debug information. */
const struct answer *answer_cache_find_function(struct answer_cache *cache, const struct module *module,
						uint64_t file_offset);

void answer_cache_add_function(struct answer_cache *cache, const struct module *module, uint64_t file_offset,
			       const struct answer *answer);

/* The same for missing frames; call is a hash of the question. */
const struct answer *answer_cache_find_missing(struct answer_cache *cache, const struct module *module, uint64_t call);

void answer_cache_add_missing(struct answer_cache *cache, const struct module *module, uint64_t call,
			      const struct answer *answer);

/* The same for data at an address of the file. */
const struct variable_answer *answer_cache_find_variable(struct answer_cache *cache, const struct module *module,
							 uint64_t address);

void answer_cache_add_variable(struct answer_cache *cache, const struct module *module, uint64_t address,
			       const struct variable_answer *answer);

/* Writes what was added; leaves out what would be too much. */
void answer_cache_save(struct answer_cache *cache);
