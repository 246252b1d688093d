/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes as a trace file. Its checksums are made right, or hardly anything would get past
 * them: an enemy can do that, too. Reading comes to an end, gives well-formed events alone, and the
 * same ones twice; and so do rows that are asked for at random.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/text.h"
#include "rows/event_line.h"
#include "rows/event_row.h"
#include "rows/event_rows.h"
#include "rows/row_reader.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"

enum { FILE_BYTES_MAX = 1 << 16, CHUNKS_MAX = 64, ROWS_MAX = 1 << 14, JUMPS = 16 };

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

/* --- Rows ------------------------------------------------------------------------------------ */

static uint64_t row_hashes[ROWS_MAX]; /* of the first ones, as they are read one after the other */
static size_t row_count;

static uint64_t hash_of(uint64_t time_ns, uint32_t thread, const char *text)
{
	return XXH64(text, strlen(text), XXH64(&time_ns, sizeof(time_ns), thread));
}

/* Whether these are all rows. */
static bool read_rows(const char *path)
{
	struct row_reader *reader;
	struct text text = { 0 };
	struct event_line line;
	int got;

	if (row_reader_open(path, &reader))
		abort();
	row_count = 0;
	while (row_count < ROWS_MAX && (got = row_reader_next(reader, &line))) {
		if (got != 1)
			continue;
		text.length = 0;
		text_put(&text, "");
		event_line_put_fields(&text, &line);
		row_hashes[row_count++] =
			hash_of(line.header->time_ns - line.first_ns, line.header->thread, text.bytes);
	}
	row_reader_close(reader);
	text_fini(&text);
	return row_count < ROWS_MAX;
}

/* is_right: they must be the ones that were read. */
static void ask_rows(struct event_rows *rows, uint64_t random, bool is_right)
{
	const struct event_row *list;

	for (int i = 0; i < JUMPS; i++, random = XXH64(&random, sizeof(random), i)) {
		uint64_t row = random % (is_right && row_count ? row_count : event_rows_count(rows) + 1);
		size_t count = event_rows_get(rows, row, ROWS_MAX, &list);

		for (size_t k = 0; k < count; k++)
			if (list[k].row != row + k ||
			    (is_right && row + k < row_count &&
			     row_hashes[row + k] != hash_of(list[k].time_ns, list[k].thread, list[k].text)))
				abort();
		if (is_right && row < row_count && !count)
			abort();
		if (event_rows_at(rows, random) > event_rows_count(rows))
			abort();
	}
}

static void check_rows(const char *path, uint64_t random)
{
	struct event_rows_options options = { 0 };
	bool has_all = read_rows(path);
	struct event_rows *rows;

	if (event_rows_open(path, &options, &rows))
		abort();
	ask_rows(rows, random, false);
	while (event_rows_step(rows, 1000000) == 1)
		;
	if (!event_rows_is_counted(rows) || (has_all && event_rows_count(rows) != row_count))
		abort();
	ask_rows(rows, random, true);
	event_rows_close(rows);
	options.search = "1";
	if (event_rows_open(path, &options, &rows))
		abort();
	event_rows_step(rows, 1000000);
	ask_rows(rows, random, false);
	event_rows_close(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	uint64_t hash;
	static int fd = -1; /* the same one: who opens traces keeps each file */

	if (fd < 0)
		fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0))
		abort();
	size_bytes = size < sizeof(bytes) ? size : sizeof(bytes);
	memcpy(bytes, data, size_bytes);
	correct();
	if (pwrite(fd, bytes, size_bytes, 0) != (ssize_t)size_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	hash = read_all(path);
	if (hash != read_all(path))
		abort();
	if (hash)
		check_rows(path, hash);
	return 0;
}
