/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did over the time traced, in equal parts of it, as JSON: a row a thread, and the sum of
 * all. Begin, then add each thread, then end; the caller owns the struct.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct report;
struct text;

enum { TIMELINE_ROWS_MAX = 256 };	/* the others are in the sum, and counted */

struct timelines {
	struct json json;
	const char *const *states;	/* names of what they do, borrowed */
	size_t state_count, part_count;
	size_t row_count, left_out_count;
	double *sums;			/* threads, [state_count][part_count] */
};

struct timeline_thread {
	const char *name;		/* as the program wrote it */
	uint32_t tid, pid;
	uint64_t count;			/* of threads that the row stands for */
};

/* begin_ns: of the first part, on the clock of what else is told with it; 0: that is not known. */
void timelines_begin(struct timelines *timelines, struct text *out, const char *const *states,
		     size_t state_count, size_t part_count, uint64_t begin_ns, uint64_t part_ns);

/* shares: how many threads of it were in a state, in the mean of a part; [state_count][part_count]. */
void timelines_add(struct timelines *timelines, const struct timeline_thread *thread, const float *shares);
void timelines_end(struct timelines *timelines);

/* Those of a report whose strips were kept; -ENODATA: they were not, and nothing is put. */
int timelines_put_report(struct text *out, const struct report *report);
