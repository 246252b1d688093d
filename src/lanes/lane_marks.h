/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of programs' own on the lanes of threads, in any stretch of time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane_marks;
struct lanes;
struct text;
struct trace_states;

/* Both are borrowed. 0, or a negative errno after a message. */
int lane_marks_open(const char *trace_path, const struct lanes *lanes, struct lane_marks **out);
void lane_marks_close(struct lane_marks *marks);

/* The trace has grown. */
void lane_marks_grow(struct lane_marks *marks);

/* Which events are chosen, as others have found out. */
struct mark_choice {
	/* Of the chunk that has() is asked about from here on: how many are chosen. False: that is not known yet. */
	bool (*load)(void *data, size_t chunk, uint32_t *count);
	bool (*has)(void *data, uint32_t at); /* the event of that number in the chunk */
	void *data;
};

struct mark_question {
	const uint32_t *lanes; /* their ids, of which those of threads count */
	size_t lane_count;
	uint64_t from_ns, to_ns, first_ns; /* CLOCK_MONOTONIC; first_ns: when the trace begins */
	const struct mark_choice *choice;  /* NULL: all events */
};

/*
 * Puts those in [from_ns, to_ns) on these lanes, as own_marks_put_json() does. Of a long stretch some chunks of the
 * trace are read, evenly, of those that have a chosen event. With a choice, wake-ups that are chosen are put, too: wakes, each with the lane
 * of who was woken.
 */
void lane_marks_put_json(struct lane_marks *marks, const struct mark_question *question, struct text *out);
