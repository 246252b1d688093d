/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_index.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bound.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_temporary.h"
#include "rows/row_bits.h"
#include "trace/trace_reader.h"

struct row_chunk {
	uint64_t first;     /* row; right below index->summed */
	uint64_t latest_ns; /* of its rows */
	uint64_t bits_at;   /* in the file */
	uint32_t count;     /* of rows */
	uint32_t end;       /* as in row_bits; 0: it is not counted */
};

struct row_index {
	struct row_chunk *chunks; /* and one behind the last */
	size_t count, counted, summed;
	uint64_t file_bytes, changes;
	int file; /* -1: nobody needed it */
};

struct row_index *row_index_new(const struct trace_reader *reader, bool is_of_all)
{
	struct row_index *index = xcalloc(1, sizeof(*index));
	const struct trace_place *places = trace_reader_places(reader, &index->count);

	index->file = -1;
	index->chunks = xcalloc(index->count + 1, sizeof(*index->chunks));
	for (size_t i = 0; is_of_all && i < index->count; i++)
		if (places[i].kind == TRACE_CHUNK_EVENTS) {
			index->chunks[i].count = places[i].count;
			index->chunks[i].latest_ns = places[i].last_ns;
		}
	return index;
}

void row_index_free(struct row_index *index)
{
	if (!index)
		return;
	if (index->file >= 0)
		close(index->file);
	free(index->chunks);
	free(index);
}

size_t row_index_chunks(const struct row_index *index)
{
	return index->count;
}

size_t row_index_counted(const struct row_index *index)
{
	return index->counted;
}

static void set_count(struct row_index *index, size_t chunk, uint32_t count)
{
	if (index->chunks[chunk].count == count)
		return;
	if (index->summed > chunk)
		index->summed = chunk;
	index->changes += index->chunks[chunk].count > 0;
	index->chunks[chunk].count = count;
}

uint64_t row_index_changes(const struct row_index *index)
{
	return index->changes;
}

static int write_bits(struct row_index *index, const struct row_bits *bits)
{
	size_t size_bytes = row_bits_bytes(bits), done = 0;
	ssize_t n;

	if (index->file < 0)
		index->file = out_temporary_open_large();
	if (index->file < 0)
		return fail(index->file, "cannot make a temporary file in /var/tmp");
	while (done < size_bytes) {
		n = pwrite(index->file, bits->bytes + done, size_bytes - done, index->file_bytes + done);
		if (n < 0 && errno != EINTR)
			return fail(-errno, "cannot write a temporary file in /var/tmp");
		done += n < 0 ? 0 : n;
	}
	index->file_bytes += size_bytes;
	return 0;
}

int row_index_count(struct row_index *index, const struct row_bits *bits)
{
	struct row_chunk *chunk = &index->chunks[index->counted];
	int err = 0;

	assert(index->counted < index->count);
	chunk->bits_at = index->file_bytes;
	if (row_bits_have_holes(bits))
		err = write_bits(index, bits);
	if (err)
		return err;
	index->changes += chunk->count && row_bits_have_holes(bits);
	chunk->end = bits->end;
	chunk->latest_ns = bits->latest_ns;
	set_count(index, index->counted++, bits->count);
	return 0;
}

void row_index_guess(struct row_index *index, size_t chunk, uint32_t count)
{
	assert(chunk >= index->counted);
	set_count(index, chunk, count);
}

static void sum(struct row_index *index)
{
	for (; index->summed < index->count; index->summed++)
		index->chunks[index->summed + 1].first =
			index->chunks[index->summed].first + index->chunks[index->summed].count;
}

uint64_t row_index_rows(struct row_index *index)
{
	return row_index_first(index, index->count);
}

uint64_t row_index_first(struct row_index *index, size_t chunk)
{
	sum(index);
	return index->chunks[chunk].first;
}

size_t row_index_find(struct row_index *index, uint64_t row)
{
	sum(index);
	assert(row < index->chunks[index->count].first);
	return BOUND(0, index->count, i, index->chunks[i + 1].first <= row);
}

size_t row_index_at(const struct row_index *index, size_t chunk, uint64_t time_ns)
{
	while (chunk < index->count && (!index->chunks[chunk].count || index->chunks[chunk].latest_ns < time_ns))
		chunk++;
	return chunk;
}

int row_index_bits(const struct row_index *index, size_t chunk, struct row_bits *bits)
{
	const struct row_chunk *counted = &index->chunks[chunk];
	size_t size_bytes, done = 0;
	ssize_t n;

	row_bits_clear(bits);
	bits->count = counted->count;
	bits->end = counted->end;
	bits->latest_ns = counted->latest_ns;
	if (!row_bits_have_holes(bits))
		return 0;
	size_bytes = row_bits_bytes(bits);
	row_bits_reserve(bits, size_bytes);
	while (done < size_bytes) {
		n = pread(index->file, bits->bytes + done, size_bytes - done, counted->bits_at + done);
		if (n <= 0 && errno != EINTR)
			return n ? -errno : -EIO;
		done += n < 0 ? 0 : n;
	}
	return 0;
}
