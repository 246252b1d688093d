/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of answers: what a run was told comes into them, and the oldest ones are deleted. */
#include "symbol/answer_cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/table.h"

enum {
	FILES_BYTES_MAX = 128 << 20, /* of all, when one was written */
	FILES_MAX = 4096,
};

/* An answer to be written, and where it lies now. */
struct kept {
	uint64_t key;
	const void *answer;
	uint32_t size_bytes;
};

/* The old ones and the new ones, sorted; returns how many of them fit. */
static size_t collect(const struct cached_answers *cached, struct kept *kept)
{
	size_t count = 0, file_bytes = sizeof(struct answer_file), i;

	for (i = 0; i < cached->added_count; i++)
		kept[count++] =
			(struct kept){ cached->added[i]->key, cached->added[i]->answer, cached->added[i]->size_bytes };
	for (i = 0; cached->file && i < cached->file->count; i++) {
		const struct answer_entry *entry = &answer_file_index(cached->file)[i];
		const void *answer = (const char *)cached->file + entry->at;

		/* One that nobody believes would hide the new one of the same place. */
		if (answer_file_is_valid(entry->key, answer, entry->size_bytes))
			kept[count++] = (struct kept){ entry->key, answer, entry->size_bytes };
		if (i % ANSWERS_AT_ONCE == 0)
			answer_file_release(cached->file, answer_file_index_end(cached->file), cached->file_bytes);
	}
	/* The new ones come first: what was asked for today is asked for tomorrow. */
	for (i = 0; i < count; i++) {
		file_bytes += sizeof(struct answer_entry) + answer_file_aligned(kept[i].size_bytes);
		if (file_bytes > FILE_BYTES_MAX)
			break;
	}
	qsort(kept, i, sizeof(*kept), answer_file_compare_keys);
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
	output->sum = answer_file_checksum(output->sum, output->piece, output->used);
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
		memset(output->piece + output->used + count, 0, answer_file_aligned(count) - count);
		output->used += answer_file_aligned(count);
		bytes = (const char *)bytes + count;
		size_bytes -= count;
		if (output->used == PIECE_BYTES)
			flush(output);
	}
}

static void put_index(struct output *output, const struct kept *kept, size_t count)
{
	size_t at = sizeof(struct answer_file) + count * sizeof(struct answer_entry);

	for (size_t i = 0; i < count; i++) {
		struct answer_entry entry = { kept[i].key, at, kept[i].size_bytes };

		put(output, &entry, sizeof(entry));
		at += answer_file_aligned(kept[i].size_bytes);
	}
}

static void put_answers(struct output *output, const struct cached_answers *cached, const struct kept *kept,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(output, kept[i].answer, kept[i].size_bytes);
		if (cached->file && i % ANSWERS_AT_ONCE == 0)
			answer_file_release(cached->file, answer_file_index_end(cached->file), cached->file_bytes);
	}
	flush(output);
}

static int write_all(const struct cached_answers *cached, const struct kept *kept, size_t count, int fd)
{
	struct answer_file header = answer_file_new();
	struct output output = { .fd = fd, .piece = xcalloc(1, PIECE_BYTES) };

	header.count = count;
	header.sources = cached->sources;
	output.sum = count * sizeof(struct answer_entry);
	for (size_t i = 0; i < count; i++)
		output.sum += answer_file_aligned(kept[i].size_bytes);
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
static void write_file(const struct answer_cache *cache, const struct cached_answers *cached)
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
	struct cached_answers *cached;
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
