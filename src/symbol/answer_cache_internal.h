/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What those who read the cache's files and who write them have in common. A file is a header, an index sorted by key, and the answers, as
 * the worker sends them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "symbol/answer_cache.h"

enum {
	FILE_BYTES_MAX = 32 << 20,
	PIECE_BYTES = 1 << 20,
	ANSWERS_AT_ONCE = 4096, /* that are read one after the other */
	NAME_BYTES = 2 * sizeof(XXH128_hash_t) + 1,
	KIND_SHIFT = 56,
};

/* What an answer is about: the highest byte of its key. */
enum kind { KIND_PLACE, KIND_VARIABLE, KIND_FUNCTION, KIND_MISSING };

struct answer_file {
	char magic[8];
	char version[24];  /* of pinch: another one may answer differently */
	uint64_t checksum; /* of all that follows the header */
	uint32_t count;
	uint32_t reserved;
	struct sources_answer sources; /* what the answers come from */
};

struct answer_entry {
	uint64_t key; /* offset in the file or address, and the kind */
	uint32_t at;  /* in the file, a multiple of 8 */
	uint32_t size_bytes;
};

/* What is known about a module's places. */
struct cached_answers {
	const struct module *module;
	struct sources_answer sources;
	char name[NAME_BYTES];          /* empty: nothing of it is kept */
	const struct answer_file *file; /* NULL: there is none */
	size_t file_bytes;
	struct table *found; /* copies of answers by their index entry; NULL: none is asked for yet */
	struct added_answer **added;
	size_t added_count;
};

struct added_answer {
	uint64_t key;
	uint32_t size_bytes;
	_Alignas(8) char answer[];
};

struct answer_cache {
	int directory;              /* -1: none */
	struct table *modules;      /* by number + 1 */
	answer_sources_fn *sources; /* NULL: nobody knows */
	answer_unchanged_fn *is_unchanged;
	void *sources_data;
	struct answer_book *book; /* NULL: none */
	struct arena *arena;      /* of copies of answers */
};

/* Whether an answer in a file is one of its kind, and what it says lies in it. */
bool answer_file_is_valid(uint64_t key, const void *answer, size_t size_bytes);

/* Each answer takes a multiple of 8 bytes. */
size_t answer_file_aligned(size_t size_bytes);

/* Begins with the number of all bytes, and goes on with pieces of them. */
uint64_t answer_file_checksum(uint64_t sum, const void *bytes, size_t size_bytes);

/* Without answers. */
struct answer_file answer_file_new(void);

/* [count], by their keys. */
const struct answer_entry *answer_file_index(const struct answer_file *file);

/* Whole pages from a place in the file on leave the memory; the kernel has them when they are needed again. */
void answer_file_release(const struct answer_file *file, size_t from, size_t file_bytes);

/* Where the answers begin. */
size_t answer_file_index_end(const struct answer_file *file);

/* For qsort() of what begins with a key. */
int answer_file_compare_keys(const void *a, const void *b);
