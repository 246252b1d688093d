/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of earlier runs, on disk: a file for each build-id in $XDG_CACHE_HOME/pinch or
 * ~/.cache/pinch. Only whole answers are kept, with lines or types; what is missing today may be
 * installed tomorrow. Files are written anew and renamed, so that several runs do not disturb each
 * other; one that is damaged counts as empty. Without a directory of our own nothing is kept.
 */
#pragma once

#include "symbol/answer.h"
#include "symbol/module.h"

struct answer_book;
struct answer_cache;

struct answer_cache *answer_cache_new(void);
void answer_cache_free(struct answer_cache *cache);

/* What is found is put into a book as well; borrowed. */
void answer_cache_use_book(struct answer_cache *cache, struct answer_book *book);

/* NULL when it is not there; valid until answer_cache_free(). */
const struct answer *answer_cache_find(struct answer_cache *cache, const struct module *module,
				       uint64_t file_offset);

void answer_cache_add(struct answer_cache *cache, const struct module *module,
		      uint64_t file_offset, const struct answer *answer);

/* The same for data at an address of the file. */
const struct variable_answer *answer_cache_find_variable(struct answer_cache *cache,
							 const struct module *module,
							 uint64_t address);

void answer_cache_add_variable(struct answer_cache *cache, const struct module *module,
			       uint64_t address, const struct variable_answer *answer);

/* Writes what was added; leaves out what would be too much. */
void answer_cache_save(struct answer_cache *cache);
