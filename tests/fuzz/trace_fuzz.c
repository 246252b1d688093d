/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes as a trace file. Its checksums are made right, or hardly anything would get past
 * them: an enemy can do that, too. Reading comes to an end, gives well-formed events alone, and the
 * same ones twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "session/event_kinds.h"
#include "trace/trace_reader.h"

enum { FILE_BYTES_MAX = 1 << 16, CHUNKS_MAX = 64 };

static uint8_t bytes[FILE_BYTES_MAX];
static size_t size_bytes;
static uint32_t trace;

static void correct_header(void)
{
	struct trace_header header;

	memcpy(&header, bytes, sizeof(header));
	memcpy(header.magic, TRACE_MAGIC, sizeof(header.magic));
	if (header.version % 16)
		header.version = TRACE_VERSION;
	trace = header.random[0];
	header.checksum = XXH64(&header, offsetof(struct trace_header, checksum), 0);
	memcpy(bytes, &header, sizeof(header));
}

/* Of the chunk at a place; returns where the next one begins. */
static size_t correct_chunk(size_t at)
{
	struct trace_chunk chunk;
	size_t left = size_bytes - at - sizeof(chunk);

	memcpy(&chunk, bytes + at, sizeof(chunk));
	chunk.magic = TRACE_CHUNK_MAGIC;
	chunk.trace = trace;
	chunk.number %= 2 * CHUNKS_MAX;
	chunk.flags %= 8;
	chunk.kind %= TRACE_CHUNK_KINDS + 1;
	chunk.packing %= 3;
	chunk.stored_bytes %= left + 8;
	if (chunk.packing == TRACE_PLAIN && chunk.plain_bytes % 8)
		chunk.plain_bytes = chunk.stored_bytes;
	if (chunk.stored_bytes <= left) {
		size_t end = at + sizeof(chunk) + chunk.stored_bytes;

		memset(bytes + end, 0, -end % 8 < size_bytes - end ? -end % 8 : size_bytes - end);
		chunk.content_checksum = XXH64(bytes + at + sizeof(chunk), chunk.stored_bytes, 0);
	}
	chunk.checksum = XXH64(&chunk, offsetof(struct trace_chunk, checksum), 0);
	memcpy(bytes + at, &chunk, sizeof(chunk));
	return at + sizeof(chunk) + (chunk.stored_bytes + 7) / 8 * 8;
}

static void correct(void)
{
	size_t at = sizeof(struct trace_header);

	if (size_bytes < at)
		return;
	correct_header();
	for (int i = 0; i < CHUNKS_MAX && at <= size_bytes && size_bytes - at >= sizeof(struct trace_chunk); i++)
		at = correct_chunk(at);
}

/* A number that all events of the trace make, in their order. */
static uint64_t read_all(const char *path)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	uint64_t hash = 1;
	int result;

	if (trace_reader_open(path, &reader))
		return 0;
	while ((result = trace_reader_next(reader, &header))) {
		if (result < 0)
			continue;
		if (!event_is_well_formed(header, event_bytes(header)))
			abort();
		hash = XXH64(header, event_bytes(header), hash);
	}
	trace_reader_seek(reader, hash);
	trace_reader_next(reader, &header);
	trace_reader_choose_thread(reader, hash);
	while (trace_reader_next(reader, &header))
		;
	trace_reader_close(reader);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	size_bytes = size < sizeof(bytes) ? size : sizeof(bytes);
	memcpy(bytes, data, size_bytes);
	correct();
	if (write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_all(path) != read_all(path))
		abort();
	close(fd);
	return 0;
}
