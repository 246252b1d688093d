/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is a header, an index sorted by key, and the answers, as the worker sends them. It is
 * mapped, and an answer examined and copied when somebody asks for it: hundreds of tens of thousands are. Pages of
 * answers leave the memory again, for the kernel maps many around each that is touched.
 */
#include "symbol/answer_cache.h"

#include <dirent.h>
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
#include "base/out/out_file.h"
#include "base/table.h"
#include "base/text.h"
#include "base/user_file.h"
#include "symbol/answer/answer_book.h"

enum {
	FILE_BYTES_MAX = 32 << 20,
	FILES_BYTES_MAX = 128 << 20, /* of all, when one was written */
	FILES_MAX = 4096,
	PIECE_BYTES = 1 << 20,
	ANSWERS_AT_ONCE = 4096, /* that are read one after the other */
	COPIES_AT_ONCE = 64,    /* from anywhere in the file: each brings in 64 KB */
	NAME_BYTES = 2 * sizeof(XXH128_hash_t) + 1,
	KIND_SHIFT = 56,
};

/* What an answer is about: the highest byte of its key. */
enum kind { KIND_PLACE, KIND_VARIABLE, KIND_FUNCTION, KIND_MISSING };

static const enum book_kind book_kinds[] = {
	[KIND_PLACE] = BOOK_PLACE,
	[KIND_VARIABLE] = BOOK_VARIABLE,
	[KIND_FUNCTION] = BOOK_PLACE_BY_SYMBOLS,
	[KIND_MISSING] = BOOK_MISSING,
};

struct header {
	char magic[8];
	char version[24];  /* of pinch: another one may answer differently */
	uint64_t checksum; /* of all that follows the header */
	uint32_t count;
	uint32_t reserved;
	struct sources_answer sources; /* what the answers come from */
};

struct index_entry {
	uint64_t key; /* offset in the file or address, and the kind */
	uint32_t at;  /* in the file, a multiple of 8 */
	uint32_t size_bytes;
};

/* What is known about a module's places. */
struct cached {
	const struct module *module;
	struct sources_answer sources;
	char name[NAME_BYTES];     /* empty: nothing of it is kept */
	const struct header *file; /* NULL: there is none */
	size_t file_bytes;
	struct table *found; /* copies of answers by their index entry; NULL: none is asked for yet */
	struct added **added;
	size_t added_count;
};

struct added {
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

static bool is_valid(uint64_t key, const void *answer, size_t size_bytes)
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

static size_t aligned(size_t size_bytes)
{
	return (size_bytes + 7) & ~(size_t)7;
}

/* Begins with the number of all bytes, and goes on with pieces of them. */
static uint64_t checksum(uint64_t sum, const void *bytes, size_t size_bytes)
{
	const char *at = bytes;
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		sum = hash_u64(sum ^ word);
	}
	return sum;
}

static struct header header_new(void)
{
	struct header header = { .magic = "pinchsy2" };

	snprintf(header.version, sizeof(header.version), "%s", PINCH_VERSION);
	return header;
}

/* --- Reading -------------------------------------------------------------------------------- */

static const struct index_entry *index_of(const struct header *file)
{
	return (const struct index_entry *)(file + 1);
}

/* Whole pages from a place in the file on; the kernel has them when they are needed again. */
static void release(const struct header *file, size_t from, size_t file_bytes)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), begin = (from + page_bytes - 1) & -page_bytes;

	if (begin < file_bytes)
		madvise((char *)file + begin, file_bytes - begin, MADV_DONTNEED);
}

static size_t index_end(const struct header *file)
{
	return sizeof(*file) + (size_t)file->count * sizeof(struct index_entry);
}

static uint64_t checksum_of_file(const struct header *file, size_t file_bytes)
{
	uint64_t sum = file_bytes - sizeof(*file);

	for (size_t at = sizeof(*file); at < file_bytes; at += PIECE_BYTES) {
		size_t left = file_bytes - at;

		sum = checksum(sum, (const char *)file + at, left < PIECE_BYTES ? left : PIECE_BYTES);
		release(file, index_end(file), file_bytes);
	}
	return sum;
}

static bool is_whole(const struct header *file, size_t file_bytes)
{
	struct header expected = header_new();
	size_t begin = index_end(file);

	if (memcmp(file->magic, expected.magic, sizeof(file->magic)) ||
	    memcmp(file->version, expected.version, sizeof(file->version)) ||
	    file->count > file_bytes / sizeof(struct index_entry) || begin > file_bytes ||
	    file->checksum != checksum_of_file(file, file_bytes))
		return false;
	for (uint32_t i = 0; i < file->count; i++) {
		const struct index_entry *entry = &index_of(file)[i];

		if (entry->at < begin || entry->at % 8 || entry->at > file_bytes ||
		    entry->size_bytes > file_bytes - entry->at)
			return false;
	}
	return true;
}

static void open_file(const struct answer_cache *cache, struct cached *cached)
{
	int fd = openat(cache->directory, cached->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;
	void *file;

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    status.st_size >= (off_t)sizeof(struct header) && status.st_size <= FILE_BYTES_MAX &&
	    status.st_size % 8 == 0) {
		/* Whoever writes it again makes another file. */
		file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED && is_whole(file, status.st_size) &&
		    !memcmp(&((struct header *)file)->sources, &cached->sources, sizeof(cached->sources))) {
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
static struct cached *cached_get(struct answer_cache *cache, const struct module *module)
{
	struct cached *cached = table_find(cache->modules, (uint64_t)module->number + 1);
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

static int compare_keys(const void *a, const void *b)
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

static const void *copy_of(const struct answer_cache *cache, struct cached *cached, const struct index_entry *entry)
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
		release(cached->file, index_end(cached->file), cached->file_bytes);
	return answer;
}

static const void *find(struct answer_cache *cache, const struct module *module, enum kind kind, uint64_t place)
{
	struct cached *cached = cached_get(cache, module);
	uint64_t key;
	const struct index_entry *entry;
	const void *answer;

	if (!cached || !cached->file || !key_of(kind, place, &key))
		return NULL;
	entry = bsearch(&key, index_of(cached->file), cached->file->count, sizeof(*entry), compare_keys);
	if (!entry)
		return NULL;
	answer = copy_of(cache, cached, entry);
	if (!is_valid(key, answer, entry->size_bytes))
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

/* --- Writing -------------------------------------------------------------------------------- */

static void add(struct answer_cache *cache, const struct module *module, enum kind kind, uint64_t place,
		const void *answer, size_t size_bytes)
{
	struct cached *cached = cached_get(cache, module);
	struct added *added;
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

/* An answer to be written, and where it lies now. */
struct kept {
	uint64_t key;
	const void *answer;
	uint32_t size_bytes;
};

/* The old ones and the new ones, sorted; returns how many of them fit. */
static size_t collect(const struct cached *cached, struct kept *kept)
{
	size_t count = 0, file_bytes = sizeof(struct header), i;

	for (i = 0; i < cached->added_count; i++)
		kept[count++] =
			(struct kept){ cached->added[i]->key, cached->added[i]->answer, cached->added[i]->size_bytes };
	for (i = 0; cached->file && i < cached->file->count; i++) {
		const struct index_entry *entry = &index_of(cached->file)[i];
		const void *answer = (const char *)cached->file + entry->at;

		/* One that nobody believes would hide the new one of the same place. */
		if (is_valid(entry->key, answer, entry->size_bytes))
			kept[count++] = (struct kept){ entry->key, answer, entry->size_bytes };
		if (i % ANSWERS_AT_ONCE == 0)
			release(cached->file, index_end(cached->file), cached->file_bytes);
	}
	/* The new ones come first: what was asked for today is asked for tomorrow. */
	for (i = 0; i < count; i++) {
		file_bytes += sizeof(struct index_entry) + aligned(kept[i].size_bytes);
		if (file_bytes > FILE_BYTES_MAX)
			break;
	}
	qsort(kept, i, sizeof(*kept), compare_keys);
	return i;
}

/* A file that is being written, a piece at a time. */
struct output {
	int fd;
	char *piece;
	size_t used;
	uint64_t sum;
	bool has_failed;
};

static void flush(struct output *output)
{
	output->sum = checksum(output->sum, output->piece, output->used);
	if (write(output->fd, output->piece, output->used) != (ssize_t)output->used)
		output->has_failed = true;
	output->used = 0;
}

/* Of a multiple of 8 bytes, zeros behind them included. */
static void put(struct output *output, const void *bytes, size_t size_bytes)
{
	while (size_bytes) {
		size_t space = PIECE_BYTES - output->used, count = size_bytes < space ? size_bytes : space;

		memcpy(output->piece + output->used, bytes, count);
		memset(output->piece + output->used + count, 0, aligned(count) - count);
		output->used += aligned(count);
		bytes = (const char *)bytes + count;
		size_bytes -= count;
		if (output->used == PIECE_BYTES)
			flush(output);
	}
}

static void put_index(struct output *output, const struct kept *kept, size_t count)
{
	size_t at = sizeof(struct header) + count * sizeof(struct index_entry);

	for (size_t i = 0; i < count; i++) {
		struct index_entry entry = { kept[i].key, at, kept[i].size_bytes };

		put(output, &entry, sizeof(entry));
		at += aligned(kept[i].size_bytes);
	}
}

static void put_answers(struct output *output, const struct cached *cached, const struct kept *kept, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(output, kept[i].answer, kept[i].size_bytes);
		if (cached->file && i % ANSWERS_AT_ONCE == 0)
			release(cached->file, index_end(cached->file), cached->file_bytes);
	}
	flush(output);
}

static int write_all(const struct cached *cached, const struct kept *kept, size_t count, int fd)
{
	struct header header = header_new();
	struct output output = { .fd = fd, .piece = xcalloc(1, PIECE_BYTES) };

	header.count = count;
	header.sources = cached->sources;
	output.sum = count * sizeof(struct index_entry);
	for (size_t i = 0; i < count; i++)
		output.sum += aligned(kept[i].size_bytes);
	if (lseek(fd, sizeof(header), SEEK_SET) < 0)
		output.has_failed = true;
	put_index(&output, kept, count);
	put_answers(&output, cached, kept, count);
	header.checksum = output.sum;
	if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
		output.has_failed = true;
	free(output.piece);
	return output.has_failed ? -EIO : 0;
}

/* A full disk is no reason to complain of a cache. */
static void write_file(const struct answer_cache *cache, const struct cached *cached)
{
	size_t capacity = cached->added_count + (cached->file ? cached->file->count : 0);
	struct kept *kept = xcalloc(capacity, sizeof(*kept));
	size_t count = collect(cached, kept);
	struct out_file *out;

	if (!out_file_open_at(cache->directory, cached->name, 0, &out)) {
		if (!out_file_begin(out) && !write_all(cached, kept, count, out_file_fd(out)))
			out_file_commit(out);
		out_file_close(out);
	}
	free(kept);
}

struct old_file {
	int64_t modified_ns;
	off_t size_bytes;
	char name[NAME_MAX + 1];
};

static int compare_ages(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	return (x->modified_ns > y->modified_ns) - (x->modified_ns < y->modified_ns);
}

/* Deletes the files that were written the longest ago, while there are too many bytes of them. */
static void evict(const struct answer_cache *cache)
{
	struct old_file *files = xcalloc(FILES_MAX, sizeof(*files));
	DIR *directory = fdopendir(dup(cache->directory));
	off_t total_bytes = 0;
	struct dirent *entry;
	size_t count = 0;

	if (directory)
		rewinddir(directory);
	while (directory && count < FILES_MAX && (entry = readdir(directory))) {
		struct stat status;

		if (fstatat(cache->directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
			continue;
		files[count] = (struct old_file){
			.modified_ns = status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec,
			.size_bytes = status.st_size,
		};
		snprintf(files[count++].name, sizeof(files->name), "%s", entry->d_name);
		total_bytes += status.st_size;
	}
	if (directory)
		closedir(directory);
	qsort(files, count, sizeof(*files), compare_ages);
	for (size_t i = 0; i < count && total_bytes > FILES_BYTES_MAX; i++) {
		unlinkat(cache->directory, files[i].name, 0);
		total_bytes -= files[i].size_bytes;
	}
	free(files);
}

void answer_cache_save(struct answer_cache *cache)
{
	bool has_written = false;
	struct cached *cached;
	size_t cursor = 0;

	while ((cached = table_next(cache->modules, &cursor))) {
		/* What was written to while it was read has answers of both. */
		if (!cached->added_count || !cache->is_unchanged(cache->sources_data, cached->module))
			continue;
		write_file(cache, cached);
		has_written = true;
	}
	if (has_written)
		evict(cache);
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
	struct cached *cached;
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
