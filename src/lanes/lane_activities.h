/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The activities of a trace on the lanes of threads, and as a list. They are found step by step, by all that see them: pairs of events, and scripts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoders;
struct event_filter;
struct lane_activities;
struct lane_filter;
struct lanes;
struct part_choice;
struct script_text;
struct text;

struct lane_activities_options {
	const char *trace_path;
	uint64_t first_ns;          /* since when times of scripts count; CLOCK_MONOTONIC, 0: since the first event */
	const char *const *scripts; /* paths: their decoders find activities */
	size_t script_count;
	const struct script_text *text; /* one more script, borrowed; NULL: none */
	struct event_filter *filter;    /* which events are looked at, borrowed; NULL: all */
	bool is_growing;                /* the trace */
};

/* lanes: borrowed. 0, or a negative errno after a message. */
int lane_activities_open(const struct lane_activities_options *options, const struct lanes *lanes,
			 struct lane_activities **out);

/* The trace has grown, and the lanes are others. */
void lane_activities_grow(struct lane_activities *activities);
void lane_activities_close(struct lane_activities *activities);

/* Goes on reading for about budget_ns. */
void lane_activities_step(struct lane_activities *activities, uint64_t budget_ns);

/*
 * The same in three parts, for a script may take long: while lane_activities_run() goes on, others may call all functions that have no other
 * sentence here. Between begin and end nobody else begins.
 */
void lane_activities_begin(struct lane_activities *activities);
void lane_activities_run(struct lane_activities *activities, uint64_t budget_ns);
void lane_activities_end(struct lane_activities *activities);

/* Whether somebody has begun and not ended. */
bool lane_activities_is_busy(const struct lane_activities *activities);

/* The next step ends it: it reads no more, also when the trace grows. Not while it is busy. */
void lane_activities_stop(struct lane_activities *activities);

/* Whether the trace is read, as far as it has grown; up to when it is: CLOCK_MONOTONIC, 0: nothing. */
bool lane_activities_is_complete(const struct lane_activities *activities, uint64_t *until_ns);

/* Those that find them; not while it is busy. NULL: the first step is still to come, or the trace cannot be read. */
const struct decoders *lane_activities_decoders(const struct lane_activities *activities);

/* How many this script has found. */
size_t lane_activities_count_of(struct lane_activities *activities, const char *source);

/* A stretch of time and threads; first_ns: when the trace begins. Times are CLOCK_MONOTONIC. */
struct activity_question {
	uint64_t from_ns, to_ns, first_ns;
	const uint32_t *lanes; /* their ids, of which those of threads count */
	size_t lane_count;
	struct part_choice *choice; /* those with a part that it chooses; borrowed, NULL: all */
};

/*
 * Puts {"names", "activities", "left_out", "until_ns", "is_complete"} with those that have a part in the stretch and begin or end in one of
 * the lanes: lane, begin, end, number of the name, lane of its end, whether it is a message, its parameters. A lane is -1 where there is
 * none. Of more than there is space for, the longest ones. until_ns: up to when the trace was read. is_complete: and the choice was made.
 */
void lane_activities_put_json(struct lane_activities *activities, const struct activity_question *question,
			      struct text *out);

/* Which rows of a list there are. */
struct activity_rows {
	const struct lane_filter *filter;
	struct part_choice *choice; /* as above */
};

/* Puts {"rows", "is_counted", "first", "left_out", "events"}: count of them from a row on, by their beginnings. */
void lane_activities_put_rows(struct lane_activities *activities, const struct activity_rows *wanted, uint64_t first_ns,
			      size_t row, size_t count, struct text *out);

/* The number of the first row that begins at or after a time. */
size_t lane_activities_row_at(struct lane_activities *activities, const struct activity_rows *wanted, uint64_t time_ns);
