/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did over the time traced, in equal parts of it, as JSON: a row a thread, and the sum of
 * all. Begin, then add each thread, then end, which frees it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report;
struct text;
struct timelines;

enum { TIMELINE_ROWS_MAX = 256 }; /* the others are in the sum, and counted */

struct timeline_thread {
	const char *name; /* as the program wrote it */
	const char *host; /* NULL: there is only one */
	uint32_t tid, pid;
	uint64_t count; /* of threads that the row stands for */
};

struct timelines_shape {
	const char *const *states; /* names of what threads do, borrowed until the end */
	size_t state_count, part_count;
	uint64_t begin_ns; /* on the clock of the rest of the report; 0: unknown */
	uint64_t part_ns;
	uint64_t whole_ns; /* the last part may be shorter than the others */
};

struct timelines *timelines_begin(struct text *out, const struct timelines_shape *shape);

/* shares: how many threads of it were in a state, on average of what a part has of the time traced;
 * [state_count][part_count]. */
void timelines_add(struct timelines *timelines, const struct timeline_thread *thread, const double *shares);
void timelines_end(struct timelines *timelines);

/* Those of a report whose strips were kept; -ENODATA: they were not, and nothing is put. */
int timelines_put_report(struct text *out, const struct report *report);
