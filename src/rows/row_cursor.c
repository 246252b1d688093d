/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_cursor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rows/event_line.h"
#include "rows/row_bits.h"
#include "rows/row_cpus.h"
#include "rows/row_index.h"
#include "rows/row_reader.h"
#include "trace/trace_reader.h"

/* Chunks that say that they have a time, and have not. */
enum { GUESSES_MAX = 16 };

struct row_cursor {
	struct row_index *index;
	struct row_cpus *cpus;
	struct row_reader *rows;
	struct trace_reader *trace;
	bool is_in_chunk;
	bool is_counted; /* the chunk was, when it was begun */
	size_t chunk;
	uint32_t next; /* row in the chunk */
	uint64_t skip; /* so many first */
	struct row_bits bits;
};

int row_cursor_open(const char *path, uint64_t first_ns, struct row_index *index, struct row_cpus *cpus,
		    struct row_cursor **out)
{
	struct row_cursor *cursor = xcalloc(1, sizeof(*cursor));
	int err = row_reader_open(path, &cursor->rows);

	if (err) {
		row_cursor_close(cursor);
		return err;
	}
	cursor->index = index;
	cursor->cpus = cpus;
	cursor->trace = row_reader_trace(cursor->rows);
	trace_reader_count_from(cursor->trace, first_ns);
	trace_reader_ignore_past(cursor->trace);
	*out = cursor;
	return 0;
}

void row_cursor_close(struct row_cursor *cursor)
{
	if (!cursor)
		return;
	row_reader_close(cursor->rows);
	row_bits_fini(&cursor->bits);
	free(cursor);
}

const struct trace_reader *row_cursor_trace(const struct row_cursor *cursor)
{
	return cursor->trace;
}

static int begin_chunk(struct row_cursor *cursor, size_t chunk)
{
	size_t count;
	const struct trace_place *place = &trace_reader_places(cursor->trace, &count)[chunk];
	int err;

	cursor->is_in_chunk = false;
	cursor->is_counted = chunk < row_index_counted(cursor->index);
	if (cursor->is_counted) {
		err = row_index_bits(cursor->index, chunk, &cursor->bits);
		if (err)
			return err;
	}
	cursor->chunk = chunk;
	cursor->next = 0;
	trace_reader_begin_chunk(cursor->trace, chunk);
	row_cpus_begin_chunk(cursor->cpus, place->first_ns);
	cursor->is_in_chunk = true;
	return 0;
}

int row_cursor_go(struct row_cursor *cursor, uint64_t row)
{
	size_t chunk = row_index_find(cursor->index, row);
	uint64_t at = row - row_index_first(cursor->index, chunk);
	bool is_counted = chunk < row_index_counted(cursor->index);
	int err;

	if (!cursor->is_in_chunk || cursor->chunk != chunk || cursor->is_counted != is_counted || at < cursor->next) {
		err = begin_chunk(cursor, chunk);
		if (err)
			return err;
	}
	cursor->skip = at - cursor->next;
	return 0;
}

/* The chunk is over; of one that is not counted, that says how many rows it has. */
static int end_chunk(struct row_cursor *cursor)
{
	cursor->is_in_chunk = false;
	if (cursor->chunk >= row_index_counted(cursor->index))
		row_index_guess(cursor->index, cursor->chunk, cursor->next);
	return 0;
}

static bool is_row(const struct row_cursor *cursor)
{
	return !cursor->is_counted || row_bits_has(&cursor->bits, trace_reader_event_at(cursor->trace));
}

int row_cursor_next(struct row_cursor *cursor, struct event_line *line, uint64_t *row)
{
	const struct ev_header *known;
	int got;

	while (cursor->is_in_chunk && !(cursor->is_counted && cursor->next == cursor->bits.count)) {
		got = row_reader_next(cursor->rows, line);
		if (got == -EBADMSG)
			continue;
		if (got != 1) {
			cursor->is_in_chunk = false;
			return got < 0 ? got : end_chunk(cursor);
		}
		known = trace_reader_known(cursor->trace);
		if (known)
			row_cpus_follow(cursor->cpus, known);
		if (!is_row(cursor))
			continue;
		cursor->next++;
		if (cursor->skip) {
			cursor->skip--;
			continue;
		}
		*row = row_index_first(cursor->index, cursor->chunk) + cursor->next - 1;
		return 1;
	}
	return 0;
}

/* Of the rows of this chunk; false: none is. */
static bool find_in_chunk(struct row_cursor *cursor, size_t chunk, uint64_t time_ns, uint64_t *row)
{
	struct event_line line;

	if (row_cursor_go(cursor, row_index_first(cursor->index, chunk)))
		return false;
	while (row_cursor_next(cursor, &line, row) == 1)
		if (line.header->time_ns >= time_ns)
			return true;
	return false;
}

uint64_t row_cursor_at(struct row_cursor *cursor, uint64_t time_ns)
{
	size_t chunk = row_index_at(cursor->index, 0, time_ns);
	uint64_t row;

	for (int i = 0; i < GUESSES_MAX && chunk < row_index_chunks(cursor->index); i++) {
		if (find_in_chunk(cursor, chunk, time_ns, &row))
			return row;
		chunk = row_index_at(cursor->index, chunk + 1, time_ns);
	}
	return row_index_first(cursor->index, chunk);
}
