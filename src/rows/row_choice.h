/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events of a trace a user wants to see, by filters and scripts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "activity/activity.h"

struct dump_choice;
struct ev_header;
struct event_context;
struct event_line;
struct settings;
struct trace_reader;

/*
 * For a trace that has not been read yet, at whose first event to be looked at the reader is then. sink: gets activities; take may be
 * NULL: none are looked for. 0, or a negative errno after a message.
 */
int dump_choice_open(const struct settings *settings, struct trace_reader *reader, const char *path,
		     struct activity_sink sink, struct dump_choice **out);
void dump_choice_close(struct dump_choice *choice);

/* Takes the next event in; known: as this version lays it out, NULL: it does not know the kind. Whether it is to be shown. */
bool dump_choice_take(struct dump_choice *choice, const struct ev_header *known, const struct event_line *line);

/* There are no more events. */
void dump_choice_finish(struct dump_choice *choice);

/* Who and where events are from. */
const struct event_context *dump_choice_context(const struct dump_choice *choice);

/* Warns of what has gone wrong. 0, or -EINVAL: a script has failed. */
int dump_choice_report(const struct dump_choice *choice, const char *path);
