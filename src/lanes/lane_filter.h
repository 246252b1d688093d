/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a list of activities, waits or spans is to have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lanes/part_filter.h"

enum { LANE_FILTER_THREADS_MAX = 512 };

struct lane_filter {
	uint64_t from_ns, to_ns; /* they begin there; CLOCK_MONOTONIC */
	uint64_t least_ns;       /* none is shorter */
	const char *
		search; /* a part of the name or of the parameters, whatever the case; empty: any. Of waits it means nothing */
	uint32_t threads[LANE_FILTER_THREADS_MAX]; /* numbers of those in which they begin or end */
	size_t thread_count;                       /* 0: any */
	uint64_t shares;                           /* of waits: bits of what they are; 0: any */
	struct part_filter parts;                  /* one of them is in what is listed */
	bool longest_first;                        /* rows are by their lengths, not by their beginnings */
};

static inline bool lane_filter_has_time(const struct lane_filter *filter, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >= filter->from_ns && begin_ns < filter->to_ns && end_ns - begin_ns >= filter->least_ns;
}

static inline bool lane_filter_has_thread(const struct lane_filter *filter, uint32_t thread, uint32_t end_thread)
{
	for (size_t i = 0; i < filter->thread_count; i++)
		if (filter->threads[i] == thread || filter->threads[i] == end_thread)
			return true;
	return !filter->thread_count;
}
