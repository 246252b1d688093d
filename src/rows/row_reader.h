/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a trace: its events, each as whoever declared it describes it, the trace, this version or the
 * program that recorded it. What nothing describes is no row.
 */
#pragma once

#include <stdint.h>

struct event_line;
struct row_reader;
struct trace_reader;

/* 0, or a negative errno after a message. */
int row_reader_open(const char *path, struct row_reader **out);
void row_reader_close(struct row_reader *reader);

/* What it reads, for the caller to say from where on; the reader closes it. */
struct trace_reader *row_reader_trace(const struct row_reader *reader);

/*
 * The next row, valid until the next call; its CPU is not known. 1, or what trace_reader_next_stored() returns.
 * The same event as this version lays it out: trace_reader_known().
 */
int row_reader_next(struct row_reader *reader, struct event_line *line);

/* How many events nothing described. */
uint64_t row_reader_undescribed(const struct row_reader *reader);
