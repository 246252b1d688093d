/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/memory.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"

struct buffer {
	void *bytes;
	size_t room;
};

struct trace_reader {
	int fd;
	struct trace_extent extent;
	struct trace_place *places;
	size_t place_count, place_room;
	struct event_forms forms;
	struct event_decoder *decoder;
	ZSTD_DCtx *zstd;
	struct buffer stored, plain;
	size_t next;			/* the chunk to take events from when this one has no more */
	bool is_in_chunk;
};

/* NULL only when there is no such memory: how much is asked for is bounded. */
static void *buffer_reserve(struct buffer *buffer, size_t size_bytes)
{
	if (size_bytes > buffer->room) {
		free(buffer->bytes);
		buffer->room = size_bytes;
		buffer->bytes = xcalloc(size_bytes, 1);
	}
	return buffer->bytes;
}

/* 0, -EBADMSG when the file has not so many bytes there, or a negative errno. */
static int read_at(const struct trace_reader *reader, uint64_t at, void *bytes, size_t size_bytes)
{
	ssize_t n;

	while (size_bytes) {
		n = pread(reader->fd, bytes, size_bytes, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		bytes = (char *)bytes + n;
		size_bytes -= n;
		at += n;
	}
	return 0;
}

static uint64_t padded(uint64_t size_bytes)
{
	return (size_bytes + 7) & ~7ull;
}

/* The header of the chunk at an offset, if all of the chunk can be there. */
static int read_chunk(const struct trace_reader *reader, uint64_t at, struct trace_chunk *chunk)
{
	uint64_t end = reader->extent.file_bytes;
	int err;

	if (at > end || end - at < sizeof(*chunk))
		return -EBADMSG;
	err = read_at(reader, at, chunk, sizeof(*chunk));
	if (err)
		return err;
	if (chunk->magic != TRACE_CHUNK_MAGIC ||
	    chunk->checksum != XXH64(chunk, offsetof(struct trace_chunk, checksum), 0) ||
	    chunk->stored_bytes > TRACE_CHUNK_BYTES_MAX || chunk->plain_bytes > TRACE_CHUNK_BYTES_MAX ||
	    padded(chunk->stored_bytes) > end - at - sizeof(*chunk))
		return -EBADMSG;
	return 0;
}

static int unpack(struct trace_reader *reader, const struct trace_chunk *chunk, const void **content)
{
	void *plain;

	*content = reader->stored.bytes;
	if (chunk->packing == TRACE_PLAIN)
		return chunk->plain_bytes == chunk->stored_bytes ? 0 : -EBADMSG;
	if (chunk->packing != TRACE_ZSTD)
		return -EBADMSG;
	*content = plain = buffer_reserve(&reader->plain, chunk->plain_bytes);
	return ZSTD_decompressDCtx(reader->zstd, plain, chunk->plain_bytes, reader->stored.bytes,
				   chunk->stored_bytes) == chunk->plain_bytes ? 0 : -EBADMSG;
}

static int read_content(struct trace_reader *reader, uint64_t at, struct trace_chunk *chunk,
			const void **content)
{
	int err = read_chunk(reader, at, chunk);
	void *stored;

	if (err)
		return err;
	stored = buffer_reserve(&reader->stored, chunk->stored_bytes);
	err = read_at(reader, at + sizeof(*chunk), stored, chunk->stored_bytes);
	if (err)
		return err;
	if (chunk->content_checksum != XXH64(stored, chunk->stored_bytes, 0))
		return -EBADMSG;
	return unpack(reader, chunk, content);
}

static void add_place(struct trace_reader *reader, const struct trace_place *place)
{
	if (reader->place_count == reader->place_room) {
		reader->place_room = reader->place_room ? 2 * reader->place_room : 64;
		reader->places = xrealloc(reader->places, reader->place_room,
					  sizeof(*reader->places));
	}
	reader->places[reader->place_count++] = *place;
}

/* By the index at the end, which the writer leaves when it comes to it. */
static bool read_index(struct trace_reader *reader)
{
	uint64_t size_bytes = reader->extent.file_bytes;
	const struct trace_place *places;
	struct trace_chunk chunk;
	const void *content;
	struct trace_end end;

	if (size_bytes < sizeof(struct trace_header) + sizeof(end) ||
	    read_at(reader, size_bytes - sizeof(end), &end, sizeof(end)) ||
	    memcmp(end.magic, TRACE_MAGIC, sizeof(end.magic)) ||
	    read_content(reader, end.index_offset, &chunk, &content) ||
	    chunk.kind != TRACE_CHUNK_INDEX || chunk.plain_bytes % sizeof(*places))
		return false;
	places = content;
	for (size_t i = 0; i < chunk.plain_bytes / sizeof(*places); i++)
		add_place(reader, &places[i]);
	return true;
}

/* Chunk by chunk, up to what is damaged or not yet written. Returns where that is. */
static uint64_t find_chunks(struct trace_reader *reader)
{
	uint64_t at = sizeof(struct trace_header);
	struct trace_chunk chunk;

	while (!read_chunk(reader, at, &chunk)) {
		add_place(reader, &(struct trace_place){
			.offset = at, .first_ns = chunk.first_ns, .last_ns = chunk.last_ns,
			.count = chunk.count, .kind = chunk.kind,
		});
		at += sizeof(chunk) + padded(chunk.stored_bytes);
	}
	return at;
}

static void measure(struct trace_reader *reader)
{
	struct trace_extent *extent = &reader->extent;

	extent->chunks = reader->place_count;
	for (size_t i = 0; i < reader->place_count; i++) {
		const struct trace_place *place = &reader->places[i];

		if (place->kind != TRACE_CHUNK_EVENTS)
			continue;
		if (!extent->events || place->first_ns < extent->first_ns)
			extent->first_ns = place->first_ns;
		if (place->last_ns > extent->last_ns)
			extent->last_ns = place->last_ns;
		extent->events += place->count;
	}
}

/* What its events look like. */
static int read_forms(struct trace_reader *reader)
{
	const struct trace_form *forms;
	const void *content;
	size_t size_bytes;
	int err;

	for (size_t i = 0; i < reader->place_count; i++) {
		if (reader->places[i].kind != TRACE_CHUNK_FORMS)
			continue;
		err = trace_reader_content(reader, i, &content, &size_bytes);
		if (err)
			return err;
		forms = content;
		for (size_t f = 0; f < size_bytes / sizeof(*forms); f++) {
			size_t id = forms[f].subsys * (size_t)EVENTS_MAX + forms[f].event;

			if (forms[f].event < EVENTS_MAX && id < EVENT_IDS)
				reader->forms.of[id] = (struct event_form){
					forms[f].size_bytes, forms[f].is_flexible,
				};
		}
		return 0;
	}
	return -EBADMSG;
}

static int read_header(struct trace_reader *reader)
{
	struct trace_header header;
	struct stat status;
	int err;

	if (fstat(reader->fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	reader->extent.file_bytes = status.st_size;
	err = read_at(reader, 0, &header, sizeof(header));
	if (err)
		return err;
	if (memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)))
		return -EBADMSG;
	if (header.version != TRACE_VERSION)
		return -ENOTSUP;
	if (header.checksum != XXH64(&header, offsetof(struct trace_header, checksum), 0))
		return -EBADMSG;
	reader->extent.created_ns = header.created_ns;
	return 0;
}

static int read_frame(struct trace_reader *reader)
{
	int err = read_header(reader);

	if (err)
		return err;
	reader->extent.is_ended = read_index(reader);
	if (!reader->extent.is_ended)
		reader->extent.unread_bytes = reader->extent.file_bytes - find_chunks(reader);
	measure(reader);
	return read_forms(reader);
}

int trace_reader_open(const char *path, struct trace_reader **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct trace_reader *reader;

	if (fd < 0)
		return -errno;
	reader = xcalloc(1, sizeof(*reader));
	reader->fd = fd;
	reader->zstd = ZSTD_createDCtx();
	err = reader->zstd ? read_frame(reader) : -ENOMEM;
	if (err) {
		trace_reader_close(reader);
		return err;
	}
	reader->decoder = event_decoder_new(&reader->forms);
	*out = reader;
	return 0;
}

void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	event_decoder_free(reader->decoder);
	ZSTD_freeDCtx(reader->zstd);
	free(reader->stored.bytes);
	free(reader->plain.bytes);
	free(reader->places);
	close(reader->fd);
	free(reader);
}

const struct trace_extent *trace_reader_extent(const struct trace_reader *reader)
{
	return &reader->extent;
}

const struct trace_place *trace_reader_places(const struct trace_reader *reader, size_t *count)
{
	*count = reader->place_count;
	return reader->places;
}

int trace_reader_content(struct trace_reader *reader, size_t i, const void **content,
			 size_t *size_bytes)
{
	struct trace_chunk chunk;
	int err = read_content(reader, reader->places[i].offset, &chunk, content);

	/* Its place may be an enemy's word. */
	if (!err && chunk.kind != reader->places[i].kind)
		err = -EBADMSG;
	*size_bytes = err ? 0 : chunk.plain_bytes;
	return err;
}

void trace_reader_seek(struct trace_reader *reader, uint64_t time_ns)
{
	reader->next = 0;
	while (reader->next < reader->place_count &&
	       (reader->places[reader->next].kind != TRACE_CHUNK_EVENTS ||
		reader->places[reader->next].last_ns < time_ns))
		reader->next++;
	reader->is_in_chunk = false;
}

/* 1 when there is a chunk with events, and they can be read. */
static int open_next(struct trace_reader *reader)
{
	const void *content;
	size_t size_bytes;
	int err;

	while (reader->next < reader->place_count &&
	       reader->places[reader->next].kind != TRACE_CHUNK_EVENTS)
		reader->next++;
	if (reader->next == reader->place_count)
		return 0;
	err = trace_reader_content(reader, reader->next++, &content, &size_bytes);
	if (err)
		return err;
	event_decoder_begin(reader->decoder, content, size_bytes);
	reader->is_in_chunk = true;
	return 1;
}

int trace_reader_next(struct trace_reader *reader, const struct ev_header **header)
{
	int result;

	for (;;) {
		if (!reader->is_in_chunk) {
			result = open_next(reader);
			if (result <= 0)
				return result;
		}
		result = event_decoder_next(reader->decoder, header);
		if (result > 0)
			return result;
		reader->is_in_chunk = false;
		if (result)
			return result;
	}
}

size_t trace_reader_at(const struct trace_reader *reader)
{
	return reader->next - 1;
}
