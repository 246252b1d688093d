/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/memory.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"

enum {
	EVENTS_BYTES = 1 << 20,		/* of a chunk, before it is packed */
	ZSTD_LEVEL = 1,
	PLAIN_BYTES_MIN = 256,		/* smaller ones gain nothing */
};

struct trace_writer {
	int fd;
	int err;			/* the first one; nothing is written after it */
	uint64_t at;			/* the end of the file */
	struct event_encoder *encoder;
	struct trace_chunk events;	/* the chunk that is being filled */
	ZSTD_CCtx *zstd;
	void *packed;
	size_t packed_room;
	struct trace_place *places;
	size_t place_count, place_room;
	struct trace_writer_counts counts;
};

static int write_all(int fd, struct iovec *parts, int count, uint64_t at)
{
	ssize_t n;

	while (count) {
		n = pwritev(fd, parts, count, at);
		if (n < 0 && errno == EINTR)
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

/* A part of a chunk that did not find room is no chunk: the file ends with the one before. */
static void put(struct trace_writer *writer, struct iovec *parts, int count)
{
	uint64_t size_bytes = 0;

	if (writer->err)
		return;
	for (int i = 0; i < count; i++)
		size_bytes += parts[i].iov_len;
	writer->err = write_all(writer->fd, parts, count, writer->at);
	if (!writer->err)
		writer->at += size_bytes;
	else if (ftruncate(writer->fd, writer->at))
		return;		/* readers stop there, too */
	writer->counts.file_bytes = writer->at;
}

static void note_place(struct trace_writer *writer, const struct trace_chunk *chunk)
{
	if (writer->place_count == writer->place_room) {
		writer->place_room = writer->place_room ? 2 * writer->place_room : 64;
		writer->places = xrealloc(writer->places, writer->place_room,
					  sizeof(*writer->places));
	}
	writer->places[writer->place_count++] = (struct trace_place){
		.offset = writer->at, .first_ns = chunk->first_ns, .last_ns = chunk->last_ns,
		.count = chunk->count, .kind = chunk->kind,
	};
}

/* Packs what it can; returns what is to be stored. */
static const void *pack(struct trace_writer *writer, struct trace_chunk *chunk, const void *content,
			size_t size_bytes)
{
	size_t bound = ZSTD_compressBound(size_bytes), packed_bytes;

	chunk->plain_bytes = chunk->stored_bytes = size_bytes;
	chunk->packing = TRACE_PLAIN;
	if (size_bytes < PLAIN_BYTES_MIN)
		return content;
	if (bound > writer->packed_room) {
		writer->packed_room = bound;
		free(writer->packed);
		writer->packed = xcalloc(bound, 1);
	}
	packed_bytes = ZSTD_compressCCtx(writer->zstd, writer->packed, bound, content, size_bytes,
					 ZSTD_LEVEL);
	if (ZSTD_isError(packed_bytes) || packed_bytes >= size_bytes)
		return content;
	chunk->stored_bytes = packed_bytes;
	chunk->packing = TRACE_ZSTD;
	return writer->packed;
}

static void put_chunk(struct trace_writer *writer, struct trace_chunk *chunk, const void *content,
		      size_t size_bytes)
{
	static const char zeros[8];
	const void *stored = pack(writer, chunk, content, size_bytes);
	struct iovec parts[] = {
		{ chunk, sizeof(*chunk) }, { (void *)stored, chunk->stored_bytes },
		{ (void *)zeros, -chunk->stored_bytes % sizeof(zeros) },
	};

	if (writer->err)
		return;
	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->content_checksum = XXH64(stored, chunk->stored_bytes, 0);
	chunk->checksum = XXH64(chunk, offsetof(struct trace_chunk, checksum), 0);
	note_place(writer, chunk);
	put(writer, parts, 3);
	writer->counts.chunks += !writer->err;
}

static void end_events(struct trace_writer *writer)
{
	const void *bytes;
	size_t size_bytes;

	if (!writer->events.count)
		return;
	bytes = event_encoder_bytes(writer->encoder, &size_bytes);
	writer->events.kind = TRACE_CHUNK_EVENTS;
	put_chunk(writer, &writer->events, bytes, size_bytes);
	writer->events = (struct trace_chunk){ 0 };
	event_encoder_reset(writer->encoder);
}

static void put_header(struct trace_writer *writer)
{
	struct trace_header header = {
		.magic = TRACE_MAGIC, .version = TRACE_VERSION, .header_bytes = sizeof(header),
	};
	struct iovec part = { &header, sizeof(header) };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	header.created_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	if (getrandom(header.random, sizeof(header.random), 0) != sizeof(header.random))
		header.random[0] = header.created_ns;
	header.checksum = XXH64(&header, offsetof(struct trace_header, checksum), 0);
	put(writer, &part, 1);
}

static void put_forms(struct trace_writer *writer)
{
	struct trace_form forms[EVENT_IDS];
	struct event_forms here;
	size_t count = 0;

	event_forms_here(&here);
	for (unsigned int id = 0; id < EVENT_IDS; id++)
		if (here.of[id].size_bytes)
			forms[count++] = (struct trace_form){
				.subsys = id / EVENTS_MAX, .event = id % EVENTS_MAX,
				.size_bytes = here.of[id].size_bytes,
				.is_flexible = here.of[id].is_flexible,
			};
	trace_writer_chunk(writer, TRACE_CHUNK_FORMS, forms, count * sizeof(*forms));
}

/* Two writers would write over each other: the second one must not even empty the file. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (ftruncate(fd, 0))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int trace_writer_open(const char *path, struct trace_writer **out)
{
	struct trace_writer *writer;
	int fd = open_file(path), err;

	if (fd < 0)
		return fd;
	writer = xcalloc(1, sizeof(*writer));
	writer->fd = fd;
	writer->encoder = event_encoder_new();
	writer->zstd = ZSTD_createCCtx();
	put_header(writer);
	put_forms(writer);
	err = writer->zstd ? writer->err : -ENOMEM;
	if (err)
		trace_writer_close(writer);
	else
		*out = writer;
	return err;
}

void trace_writer_event(struct trace_writer *writer, const struct ev_header *header)
{
	struct trace_chunk *chunk = &writer->events;
	size_t size_bytes;

	if (writer->err)
		return;
	event_encoder_add(writer->encoder, header);
	if (!chunk->count || header->time_ns < chunk->first_ns)
		chunk->first_ns = header->time_ns;
	if (header->time_ns > chunk->last_ns)
		chunk->last_ns = header->time_ns;
	chunk->count++;
	writer->counts.events++;
	event_encoder_bytes(writer->encoder, &size_bytes);
	if (size_bytes >= EVENTS_BYTES)
		end_events(writer);
}

void trace_writer_chunk(struct trace_writer *writer, enum trace_chunk_kind kind, const void *content,
			size_t size_bytes)
{
	struct trace_chunk chunk = { .kind = kind };

	end_events(writer);
	put_chunk(writer, &chunk, content, size_bytes);
}

void trace_writer_flush(struct trace_writer *writer, uint64_t now_ns, uint64_t limit_ns)
{
	if (writer->events.count && now_ns - writer->events.first_ns >= limit_ns)
		end_events(writer);
}

struct trace_writer_counts trace_writer_counts(const struct trace_writer *writer)
{
	return writer->counts;
}

int trace_writer_error(const struct trace_writer *writer)
{
	return writer->err;
}

static void put_end(struct trace_writer *writer)
{
	struct trace_end end = { .magic = TRACE_MAGIC };
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_INDEX };
	struct iovec part = { &end, sizeof(end) };

	end_events(writer);
	end.index_offset = writer->at;
	put_chunk(writer, &chunk, writer->places, writer->place_count * sizeof(*writer->places));
	put(writer, &part, 1);
}

int trace_writer_close(struct trace_writer *writer)
{
	int err;

	put_end(writer);
	err = writer->err;
	if (close(writer->fd) && !err)
		err = -errno;
	event_encoder_free(writer->encoder);
	ZSTD_freeCCtx(writer->zstd);
	free(writer->packed);
	free(writer->places);
	free(writer);
	return err;
}
