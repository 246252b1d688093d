/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pass over the events of a trace, step by step, for all that find activities in them or add them up: pairs of events, and scripts. A pass
 * touches nothing but itself and its sink, so that others may look at the trace while a script takes its time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"

struct activity_pass;
struct decoders;
struct event_filter;
struct script_text;

struct activity_pass_options {
	const char *trace_path;
	uint64_t first_ns;          /* since when times of scripts count; 0: since the first event */
	const char *const *scripts; /* paths */
	size_t script_count;
	const struct script_text *text; /* one more script; NULL: none */
	struct event_filter *filter;    /* NULL: all events */
	struct activity_sink sink;
	bool is_growing; /* the trace */
};

/*
 * What options point to is borrowed. 0, or a negative errno after a message. With a text, trace and scripts are opened by the first
 * activity_pass_run(): to load a script may take long.
 */
int activity_pass_open(const struct activity_pass_options *options, struct activity_pass **out);
void activity_pass_close(struct activity_pass *pass);

/* Goes on for about budget_ns, and for one call of a script at most longer. */
void activity_pass_run(struct activity_pass *pass, uint64_t budget_ns);

/* The next activity_pass_run() ends it: no more events are read, also when the trace grows. */
void activity_pass_stop(struct activity_pass *pass);

/* The trace has grown. */
void activity_pass_grow(struct activity_pass *pass);

/* Whether all is read, as far as the trace has grown; *until_ns: up to when it is, CLOCK_MONOTONIC, 0: nothing. */
bool activity_pass_is_complete(const struct activity_pass *pass, uint64_t *until_ns);

/* Who finds them; NULL: they are not opened yet, or cannot be: activity_pass_is_complete() then. */
const struct decoders *activity_pass_decoders(const struct activity_pass *pass);
