/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of a trace somebody wants to see, by filters and scripts: its events go through it in their order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "activity/activity.h"
#include "activity/event_filter.h"

struct event_context;
struct event_line;
struct ev_header;
struct row_choice;
struct script_tables;
struct script_text;
struct trace_reader;

struct row_choice_options {
	/* Copied; words are borrowed. Unless it has threads, the words that mean some are looked up in the trace. */
	struct event_filter filter;
	const char *const *scripts; /* paths, borrowed */
	size_t script_count;
	const struct script_text *text; /* one more script, borrowed; NULL: none. It is loaded with the first event */
	struct activity_sink sink;      /* gets activities; take may be NULL: none are looked for */
};

/*
 * For a trace that has not been read yet, of which the reader then leaves out chunks that have no chosen event.
 * 0, or a negative errno after a message.
 */
int row_choice_open(const struct row_choice_options *options, struct trace_reader *reader, const char *path,
		    struct row_choice **out);
void row_choice_close(struct row_choice *choice);

/* Whether an event that is not chosen may say something of one behind it: all have to be taken in. */
bool row_choice_needs_all(const struct row_choice *choice);

/*
 * Takes the next event in; known: as this version lays it out, NULL: it does not know the kind. Whether it is to
 * be shown.
 */
bool row_choice_take(struct row_choice *choice, const struct ev_header *known, const struct event_line *line);

/* Takes the next event in for decoders alone: nobody asks whether it is to be shown. */
void row_choice_follow(struct row_choice *choice, const struct ev_header *known);

/* There are no more events. */
void row_choice_finish(struct row_choice *choice);

/* Statistics of scripts, after row_choice_finish(). */
const struct script_tables *row_choice_tables(const struct row_choice *choice);

/* Who and where events are from. */
const struct event_context *row_choice_context(const struct row_choice *choice);

/* Warns of what has gone wrong. 0, or -EINVAL: a script has failed. */
int row_choice_report(const struct row_choice *choice, const char *path);
