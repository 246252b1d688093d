/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a trace as rows of a list: what pinch dump prints of it, line by line, all of them or those that
 * a filter and a text choose. Any row is there at once, whatever the trace's size; how many there are is counted
 * step by step. Whoever uses it says when. The list of all events is there before it is counted: by what the trace
 * says of itself, which may turn out to be wrong where it is damaged. Of a filter, the rows are there that are
 * counted so far.
 *
 * Owns: events as rows and lines, and which of them somebody wants to see.
 * Used by: export, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/event_filter.h"

struct event_row;
struct event_rows;
struct row_bits;
struct script_text;
struct text;
struct trace_states;

struct event_rows_options {
	/*
	 * Of the trace, borrowed: its times count as theirs do; NULL: names are not known, and CPUs only if a thread changed them shortly
	 * before.
	 */
	const struct trace_states *states;
	struct event_filter filter;       /* copied, with its words */
	const struct script_text *script; /* copied: its filter has to pass them; NULL: none */
	const char *search; /* copied: what lines have in them, whatever the case; NULL or empty: anything */
};

/* 0, or a negative errno after a message: -ENOENT: a name that the filter has is that of no thread. */
int event_rows_open(const char *path, const struct event_rows_options *options, struct event_rows **out);
void event_rows_close(struct event_rows *rows);

/*
 * Goes on counting for about budget_ns. 1: there is more to count; 0; or a negative errno after a message: it does
 * not come further.
 */
int event_rows_step(struct event_rows *rows, uint64_t budget_ns);

/*
 * The same in two parts, event_rows_count_read() before and after each event_rows_read(). While that goes on, which may run a script, others
 * may use the rows: 0, or a negative errno. event_rows_count_read() returns as event_rows_step().
 */
int event_rows_read(struct event_rows *rows, uint64_t budget_ns);
int event_rows_count_read(struct event_rows *rows);

/* Which events of a chunk are rows. 0, or a negative errno: it is not counted yet, or cannot be read. */
int event_rows_bits(const struct event_rows *rows, size_t chunk, struct row_bits *bits);

/* How many rows there are, as far as that is known; whether it is final. */
uint64_t event_rows_count(const struct event_rows *rows);
bool event_rows_is_counted(const struct event_rows *rows);

/*
 * Rows from one on, valid until the next call on rows. Returns how many, count_max at most, and fewer where they
 * would be long or take long to find: there are more behind them as long as it is not 0. 0: there is no such row,
 * as far as they are counted, or it cannot be read.
 */
size_t event_rows_get(struct event_rows *rows, uint64_t row, size_t count_max, const struct event_row **out);

/* The first row at or after a time, in ns since the first event; as many as there are so far: none is. */
uint64_t event_rows_at(struct event_rows *rows, int64_t time_ns);

/* Who can say where a thread was. */
struct event_places {
	void (*put)(void *data, const struct event_row *row,
		    struct text *out); /* of a sample: appends its call path in words */
	void *data;
};

/* Puts {"rows", "is_counted", "first", "events"} with these rows; fewer, as above. places: NULL: nobody can. */
void event_rows_put_json(struct event_rows *rows, uint64_t row, size_t count_max, const struct event_places *places,
			 struct text *out);
