/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is a header, an index sorted by key, and the answers, as the worker sends them. It is
 * mapped, and an answer examined and copied when somebody asks for it: hundreds of tens of thousands are. Pages of
 * answers leave the memory again, for the kernel maps many around each that is touched.
 */
#include "symbol/answer_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "base/user_file.h"
#include "symbol/answer/answer_book.h"
#include "symbol/answer_cache_internal.h"

enum { COPIES_AT_ONCE = 64 }; /* from anywhere in the file: each brings in 64 KB */

static const enum book_kind book_kinds[] = {
	[KIND_PLACE] = BOOK_PLACE,
	[KIND_VARIABLE] = BOOK_VARIABLE,
	[KIND_FUNCTION] = BOOK_PLACE_BY_SYMBOLS,
	[KIND_MISSING] = BOOK_MISSING,
};

bool answer_file_is_valid(uint64_t key, const void *answer, size_t size_bytes)
{
	switch (key >> KIND_SHIFT) {
	case KIND_PLACE:
	case KIND_FUNCTION:
	case KIND_MISSING:
		return answer_is_valid(answer, size_bytes);
	case KIND_VARIABLE:
		return variable_answer_is_valid(answer, size_bytes);
	}
	return false;
}

size_t answer_file_aligned(size_t size_bytes)
{
	return (size_bytes + 7) & ~(size_t)7;
}

uint64_t answer_file_checksum(uint64_t sum, const void *bytes, size_t size_bytes)
{
	const char *at = bytes;
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		sum = hash_u64(sum ^ word);
	}
	return sum;
}

struct answer_file answer_file_new(void)
{
	struct answer_file header = { .magic = "pinchsy2" };

	snprintf(header.version, sizeof(header.version), "%s", PINCH_VERSION);
	return header;
}

/* --- Reading -------------------------------------------------------------------------------- */

const struct answer_entry *answer_file_index(const struct answer_file *file)
{
	return (const struct answer_entry *)(file + 1);
}

void answer_file_release(const struct answer_file *file, size_t from, size_t file_bytes)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), begin = (from + page_bytes - 1) & -page_bytes;

	if (begin < file_bytes)
		madvise((char *)file + begin, file_bytes - begin, MADV_DONTNEED);
}

size_t answer_file_index_end(const struct answer_file *file)
{
	return sizeof(*file) + (size_t)file->count * sizeof(struct answer_entry);
}

static uint64_t checksum_of_file(const struct answer_file *file, size_t file_bytes)
{
	uint64_t sum = file_bytes - sizeof(*file);

	for (size_t at = sizeof(*file); at < file_bytes; at += PIECE_BYTES) {
		size_t left = file_bytes - at;

		sum = answer_file_checksum(sum, (const char *)file + at, left < PIECE_BYTES ? left : PIECE_BYTES);
		answer_file_release(file, answer_file_index_end(file), file_bytes);
	}
	return sum;
}

static bool is_whole(const struct answer_file *file, size_t file_bytes)
{
	struct answer_file expected = answer_file_new();
	size_t begin = answer_file_index_end(file);

	if (memcmp(file->magic, expected.magic, sizeof(file->magic)) ||
	    memcmp(file->version, expected.version, sizeof(file->version)) ||
	    file->count > file_bytes / sizeof(struct answer_entry) || begin > file_bytes ||
	    file->checksum != checksum_of_file(file, file_bytes))
		return false;
	for (uint32_t i = 0; i < file->count; i++) {
		const struct answer_entry *entry = &answer_file_index(file)[i];

		if (entry->at < begin || entry->at % 8 || entry->at > file_bytes ||
		    entry->size_bytes > file_bytes - entry->at)
			return false;
	}
	return true;
}

static void open_file(const struct answer_cache *cache, struct cached_answers *cached)
{
	int fd = openat(cache->directory, cached->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;
	void *file;

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    status.st_size >= (off_t)sizeof(struct answer_file) && status.st_size <= FILE_BYTES_MAX &&
	    status.st_size % 8 == 0) {
		/* Whoever writes it again makes another file. */
		file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED && is_whole(file, status.st_size) &&
		    !memcmp(&((struct answer_file *)file)->sources, &cached->sources, sizeof(cached->sources))) {
			cached->file = file;
			cached->file_bytes = status.st_size;
		} else if (file != MAP_FAILED) {
			munmap(file, status.st_size);
		}
	}
	close(fd);
}

/* What others could have written names nothing in later runs, whatever it is called. */
static bool find_sources(const struct answer_cache *cache, const struct module *module, struct sources_answer *sources)
{
	if (!cache->sources || !module->has_stamp || !file_stamp_is_owned(&module->stamp, geteuid()) ||
	    cache->sources(cache->sources_data, module, sources) ||
	    !file_stamp_is_same(&sources->sources[0].stamp, &module->stamp))
		return false;
	for (uint64_t i = 0; i < sources->count; i++)
		if (!sources->sources[i].stamp.inode || !file_stamp_is_owned(&sources->sources[i].stamp, geteuid()))
			return false;
	return true;
}

/* NULL for a module of which nothing is kept. */
static struct cached_answers *cached_get(struct answer_cache *cache, const struct module *module)
{
	struct cached_answers *cached = table_find(cache->modules, (uint64_t)module->number + 1);
	XXH128_hash_t hash;

	if (cache->directory < 0)
		return NULL;
	if (cached)
		return cached->name[0] ? cached : NULL;
	cached = xcalloc(1, sizeof(*cached));
	cached->module = module;
	table_put(cache->modules, (uint64_t)module->number + 1, cached);
	if (!find_sources(cache, module, &cached->sources))
		return NULL;
	hash = XXH3_128bits(&cached->sources, sizeof(cached->sources));
	snprintf(cached->name, sizeof(cached->name), "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	open_file(cache, cached);
	return cached;
}

int answer_file_compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A hash has no meaning that would be lost with its lowest bits. */
static bool key_of(enum kind kind, uint64_t place, uint64_t *key)
{
	if (kind == KIND_MISSING)
		place >>= 64 - KIND_SHIFT;
	*key = (uint64_t)kind << KIND_SHIFT | place;
	return !(place >> KIND_SHIFT);
}

static const void *copy_of(const struct answer_cache *cache, struct cached_answers *cached,
			   const struct answer_entry *entry)
{
	void *answer;

	if (!cached->found)
		cached->found = table_new();
	answer = table_find(cached->found, entry->key);
	if (answer)
		return answer;
	answer = memcpy(arena_alloc(cache->arena, entry->size_bytes), (const char *)cached->file + entry->at,
			entry->size_bytes);
	table_put(cached->found, entry->key, answer);
	if (table_count(cached->found) % COPIES_AT_ONCE == 0)
		answer_file_release(cached->file, answer_file_index_end(cached->file), cached->file_bytes);
	return answer;
}

static const void *find(struct answer_cache *cache, const struct module *module, enum kind kind, uint64_t place)
{
	struct cached_answers *cached = cached_get(cache, module);
	uint64_t key;
	const struct answer_entry *entry;
	const void *answer;

	if (!cached || !cached->file || !key_of(kind, place, &key))
		return NULL;
	entry = bsearch(&key, answer_file_index(cached->file), cached->file->count, sizeof(*entry),
			answer_file_compare_keys);
	if (!entry)
		return NULL;
	answer = copy_of(cache, cached, entry);
	if (!answer_file_is_valid(key, answer, entry->size_bytes))
		return NULL;
	if (cache->book)
		answer_book_put(cache->book, book_kinds[kind], module_owner(module), place, answer, entry->size_bytes);
	return answer;
}

const struct answer *answer_cache_find(struct answer_cache *cache, const struct module *module, uint64_t file_offset)
{
	return find(cache, module, KIND_PLACE, file_offset);
}

const struct variable_answer *answer_cache_find_variable(struct answer_cache *cache, const struct module *module,
							 uint64_t address)
{
	return find(cache, module, KIND_VARIABLE, address);
}

const struct answer *answer_cache_find_function(struct answer_cache *cache, const struct module *module,
						uint64_t file_offset)
{
	return find(cache, module, KIND_FUNCTION, file_offset);
}

const struct answer *answer_cache_find_missing(struct answer_cache *cache, const struct module *module, uint64_t call)
{
	return find(cache, module, KIND_MISSING, call);
}

/* --- Adding -------------------------------------------------------------------------------- */

static void add(struct answer_cache *cache, const struct module *module, enum kind kind, uint64_t place,
		const void *answer, size_t size_bytes)
{
	struct cached_answers *cached = cached_get(cache, module);
	struct added_answer *added;
	uint64_t key;

	if (!cached || !key_of(kind, place, &key))
		return;
	added = xcalloc(1, sizeof(*added) + size_bytes);
	added->key = key;
	added->size_bytes = size_bytes;
	memcpy(added->answer, answer, size_bytes);
	cached->added = xrealloc(cached->added, cached->added_count + 1, sizeof(*cached->added));
	cached->added[cached->added_count++] = added;
}

/* A debug file that there was is one of the sources: that there was none is as certain as what it says. */
static void add_answer(struct answer_cache *cache, const struct module *module, enum kind kind, uint64_t place,
		       const struct answer *answer)
{
	static const uint32_t wanted = ANSWER_NO_LINES | ANSWER_BY_SYMBOLS | ANSWER_GOES_ON;

	if (!(answer->flags & ~wanted))
		add(cache, module, kind, place, answer, offsetof(struct answer, text) + answer->text_bytes);
}

void answer_cache_add(struct answer_cache *cache, const struct module *module, uint64_t file_offset,
		      const struct answer *answer)
{
	if (answer->frame_count || answer->flags)
		add_answer(cache, module, KIND_PLACE, file_offset, answer);
}

void answer_cache_add_function(struct answer_cache *cache, const struct module *module, uint64_t file_offset,
			       const struct answer *answer)
{
	add_answer(cache, module, KIND_FUNCTION, file_offset, answer);
}

void answer_cache_add_missing(struct answer_cache *cache, const struct module *module, uint64_t call,
			      const struct answer *answer)
{
	add_answer(cache, module, KIND_MISSING, call, answer);
}

void answer_cache_add_variable(struct answer_cache *cache, const struct module *module, uint64_t address,
			       const struct variable_answer *answer)
{
	if (!answer->flags && answer->name)
		add(cache, module, KIND_VARIABLE, address, answer,
		    offsetof(struct variable_answer, text) + answer->text_bytes);
}

/* --- All of it ------------------------------------------------------------------------------ */

void answer_cache_use_sources(struct answer_cache *cache, answer_sources_fn *sources, answer_unchanged_fn *is_unchanged,
			      void *data)
{
	cache->sources = sources;
	cache->is_unchanged = is_unchanged;
	cache->sources_data = data;
}

void answer_cache_use_book(struct answer_cache *cache, struct answer_book *book)
{
	cache->book = book;
}

struct answer_cache *answer_cache_new(void)
{
	struct answer_cache *cache = xcalloc(1, sizeof(*cache));
	struct text path = { 0 };

	cache->directory = user_cache_open(NULL, &path);
	text_fini(&path);
	cache->modules = table_new();
	cache->arena = arena_new();
	return cache;
}

void answer_cache_free(struct answer_cache *cache)
{
	struct cached_answers *cached;
	size_t cursor = 0;

	if (!cache)
		return;
	while ((cached = table_next(cache->modules, &cursor))) {
		for (size_t i = 0; i < cached->added_count; i++)
			free(cached->added[i]);
		free(cached->added);
		if (cached->file)
			munmap((void *)cached->file, cached->file_bytes);
		table_free(cached->found);
		free(cached);
	}
	table_free(cache->modules);
	arena_free(cache->arena);
	if (cache->directory >= 0)
		close(cache->directory);
	free(cache);
}
