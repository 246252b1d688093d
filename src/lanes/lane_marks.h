/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of programs' own on the lanes of threads, in any stretch of time. */
#pragma once

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

/*
 * Puts those in [from_ns, to_ns), CLOCK_MONOTONIC, on these lanes, as own_marks_put_json() does. Of a long stretch some chunks of the
 * trace are read, evenly.
 */
void lane_marks_put_json(struct lane_marks *marks, const uint32_t *ids, size_t count, uint64_t from_ns, uint64_t to_ns,
			 uint64_t first_ns, struct text *out);
