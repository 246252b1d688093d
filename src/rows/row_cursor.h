/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goes to any row of a trace and on from there, without what lies before its chunk. Of chunks that nobody has
 * counted it guesses which events are rows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct event_line;
struct row_cpus;
struct row_cursor;
struct row_index;
struct trace_reader;

/*
 * The index is of the same trace; it and cpus, which get all events that are read, are borrowed. 0, or a negative
 * errno after a message.
 */
int row_cursor_open(const char *path, uint64_t first_ns, struct row_index *index, struct row_cpus *cpus,
		    struct row_cursor **out);
void row_cursor_close(struct row_cursor *cursor);

/* What it reads; nobody else may say from where on. */
const struct trace_reader *row_cursor_trace(const struct row_cursor *cursor);

/* The first row at or after time_ns; as many as there are so far: none is. */
uint64_t row_cursor_at(struct row_cursor *cursor, uint64_t time_ns);

/* The next row is this one, which is one of row_index_rows(). 0, or a negative errno. */
int row_cursor_go(struct row_cursor *cursor, uint64_t row);

/*
 * The next row of this chunk, valid until the next call, and its number. 1; 0: there is none: the chunk ends,
 * with fewer rows than were guessed perhaps, and row_cursor_go() goes on; or a negative errno.
 */
int row_cursor_next(struct row_cursor *cursor, struct event_line *line, uint64_t *row);
