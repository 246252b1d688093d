/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "trace/trace_file.h"
#include "trace/trace_pack.h"
#include "trace/trace_places.h"
#include "trace/trace_ring.h"
#include "trace/trace_sink.h"

enum {
	STAGED_BYTES_MAX = 64 << 20, /* in memory, for a file that can only be overwritten */
	PLACES_MAX = TRACE_CHUNK_BYTES_MAX / sizeof(struct trace_place), /* of an index */
};

struct trace_output {
	const struct trace_sink *sink; /* NULL: there is a file */
	struct out_file *file;
	int fd;
	bool is_stream; /* what is written comes behind what was */
	bool is_placed;
	uint64_t ring_bytes; /* what a ring is going to need; 0: nobody knows */
	int err;             /* the first one; nothing is written after it */
	uint64_t end;        /* of the file */
	struct trace_ring *ring;
	uint32_t trace, number; /* of the next chunk */
	struct trace_packer packer;
	struct trace_places places;
	uint64_t chunk_count;
};

/* A pipe that somebody else made not to wait. */
static bool has_waited(int fd)
{
	struct pollfd waits = { .fd = fd, .events = POLLOUT };

	return errno == EAGAIN && poll(&waits, 1, -1) >= 0;
}

static int write_all(const struct trace_output *output, struct iovec *parts, int count, uint64_t at)
{
	ssize_t n;

	while (count) {
		n = output->is_stream ? writev(output->fd, parts, count) : pwritev(output->fd, parts, count, at);
		if (n < 0 && (errno == EINTR || has_waited(output->fd)))
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		for (; count && (size_t)n >= parts->iov_len; count--)
			n -= parts++->iov_len;
		if (count) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= n;
		}
	}
	return 0;
}

/* What was behind the end stays there: a part of a chunk is not a chunk. */
static void put(struct trace_output *output, uint64_t at, struct iovec *parts, int count)
{
	if (output->err)
		return;
	output->err = write_all(output, parts, count, at);
	if (output->err && !output->is_stream && ftruncate(output->fd, output->end))
		return; /* readers stop there, too */
	if (!output->err && output->end > STAGED_BYTES_MAX && out_file_is_staged(output->file))
		trace_output_place(output);
}

static void put_at_end(struct trace_output *output, struct iovec *parts, int count)
{
	uint64_t size_bytes = 0;

	for (int i = 0; i < count; i++)
		size_bytes += parts[i].iov_len;
	put(output, output->end, parts, count);
	if (!output->err)
		output->end += size_bytes;
}

static void note_place(struct trace_output *output, const struct trace_chunk *chunk, uint64_t at,
		       const uint64_t *threads)
{
	struct trace_place place = {
		.offset = at,
		.first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns,
		.count = chunk->count,
		.kind = chunk->kind,
		.flags = chunk->flags,
		.number = chunk->number,
	};

	if (threads)
		memcpy(place.threads, threads, sizeof(place.threads));
	/* What is in a ring is bounded by that. */
	if (output->ring || output->places.count < PLACES_MAX)
		trace_places_add(&output->places, &place);
}

/* No part of what was in a segment must be taken for a chunk, wherever the new ones end. */
static void clear_segment(struct trace_output *output, uint64_t from, uint64_t size_bytes)
{
	struct trace_places *places = &output->places;
	struct trace_chunk none = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < places->count; i++) {
		uint64_t offset = places->list[i].offset;

		if (offset < from || offset - from >= size_bytes)
			places->list[kept++] = places->list[i];
		else
			put(output, offset, &(struct iovec){ &none, sizeof(none) }, 1);
	}
	places->count = kept;
}

/*
 * In place of older ones. The header comes last: whatever ends the writer, there is a chunk or none.
 * One that is too large is left out; its number says that it is missing.
 */
static void put_in_ring(struct trace_output *output, const struct trace_chunk *chunk, const uint64_t *threads,
			struct iovec *parts)
{
	uint64_t at, reused;

	at = trace_ring_take(output->ring, trace_chunk_bytes(chunk), chunk->last_ns, &output->end, &reused);
	if (at == TRACE_RING_NONE)
		return;
	if (reused != TRACE_RING_NONE)
		clear_segment(output, reused, trace_ring_segment_bytes(output->ring));
	note_place(output, chunk, at, threads);
	put(output, at + sizeof(*chunk), &parts[1], 2);
	put(output, at, &parts[0], 1);
}

static bool is_in_ring(const struct trace_output *output, const struct trace_chunk *chunk)
{
	return output->ring && (chunk->kind == TRACE_CHUNK_EVENTS || chunk->kind == TRACE_CHUNK_PROLOGUE);
}

void trace_output_put(struct trace_output *output, struct trace_chunk *chunk, const uint64_t *threads,
		      const void *content, size_t size_bytes)
{
	static const char zeros[8];
	const void *stored = trace_pack(&output->packer, chunk, content, size_bytes);
	struct iovec parts[] = {
		{ chunk, sizeof(*chunk) },
		{ (void *)stored, chunk->stored_bytes },
		{ (void *)zeros, -chunk->stored_bytes % sizeof(zeros) },
	};

	if (output->err)
		return;
	trace_chunk_seal(chunk, output->trace, output->number++);
	if (output->sink) {
		output->sink->put(output->sink->data, chunk, threads, stored);
		output->end += trace_chunk_bytes(chunk);
	} else if (is_in_ring(output, chunk)) {
		put_in_ring(output, chunk, threads, parts);
	} else {
		if (output->ring)
			trace_ring_trim(output->ring, &output->end);
		note_place(output, chunk, output->end, threads);
		put_at_end(output, parts, 3);
	}
	output->chunk_count += !output->err;
}

/* --- The file ------------------------------------------------------------------------------- */

static void put_header(struct trace_output *output, const struct trace_ring_options *ring)
{
	struct trace_header header;
	struct iovec part = { &header, sizeof(header) };

	trace_header_init(&header, ring);
	output->trace = header.random[0];
	put_at_end(output, &part, 1);
}

/* A disk that has space for the ring has it to the end. */
static int reserve(const struct trace_output *output)
{
	if (!output->ring_bytes || out_file_is_staged(output->file) ||
	    !fallocate(output->fd, FALLOC_FL_KEEP_SIZE, 0, output->ring_bytes) || errno != ENOSPC)
		return 0;
	return -ENOSPC;
}

int trace_output_open(struct out_file *file, const struct trace_ring_options *ring, struct trace_output **out)
{
	struct trace_output *output;
	int err = ring && out_file_is_stream(file) ? -ESPIPE : out_file_begin(file);

	if (err) {
		out_file_close(file);
		return err;
	}
	output = xcalloc(1, sizeof(*output));
	output->file = file;
	output->fd = out_file_fd(file);
	output->is_stream = out_file_is_stream(file);
	output->err = trace_packer_init(&output->packer);
	if (ring) {
		output->ring = trace_ring_new(ring);
		output->ring_bytes = ring->size_bytes;
	}
	if (!output->err)
		output->err = reserve(output);
	put_header(output, ring);
	err = output->err;
	if (err)
		trace_output_discard(output);
	else
		*out = output;
	return err;
}

int trace_output_open_sink(const struct trace_sink *sink, struct trace_output **out)
{
	struct trace_output *output = xcalloc(1, sizeof(*output));
	int err = trace_packer_init(&output->packer);

	output->sink = sink;
	output->fd = -1;
	if (err)
		trace_output_discard(output);
	else
		*out = output;
	return err;
}

int trace_output_place(struct trace_output *output)
{
	bool is_staged;

	if (output->err || output->is_placed || output->sink)
		return output->err;
	is_staged = out_file_is_staged(output->file);
	output->err = out_file_commit(output->file);
	output->is_placed = !output->err;
	if (output->is_placed && is_staged)
		output->err = reserve(output);
	return output->err;
}

struct trace_ring *trace_output_ring(const struct trace_output *output)
{
	return output->ring;
}

uint64_t trace_output_chunks(const struct trace_output *output)
{
	return output->chunk_count;
}

uint64_t trace_output_bytes(const struct trace_output *output)
{
	return output->end;
}

int trace_output_error(const struct trace_output *output)
{
	return output->err;
}

int trace_output_fd(const struct trace_output *output)
{
	return output->fd;
}

static void put_end(struct trace_output *output)
{
	struct trace_end end = { .magic = TRACE_MAGIC };
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_INDEX };
	struct iovec part = { &end, sizeof(end) };

	if (output->ring)
		trace_ring_trim(output->ring, &output->end);
	if (output->places.count < PLACES_MAX) {
		end.index_offset = output->end;
		trace_output_put(output, &chunk, NULL, output->places.list,
				 output->places.count * sizeof(*output->places.list));
	}
	put_at_end(output, &part, 1);
	/* Gives back what was reserved and not needed. */
	if (!output->err && !output->is_stream && ftruncate(output->fd, output->end))
		output->err = -errno;
}

static int output_free(struct trace_output *output)
{
	int err = out_file_close(output->file);

	trace_packer_fini(&output->packer);
	trace_ring_free(output->ring);
	trace_places_fini(&output->places);
	free(output);
	return err;
}

int trace_output_close(struct trace_output *output)
{
	int err, closed;

	if (!output->sink)
		put_end(output);
	err = trace_output_place(output);
	closed = output_free(output);
	return err ? err : closed;
}

void trace_output_discard(struct trace_output *output)
{
	output_free(output);
}
