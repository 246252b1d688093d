/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The critical path of a thread for a stretch of time: what, at each moment, it could not have gone on
 * without. While it runs, or could, that is itself; while it waits for another thread, it is what that one
 * does, and so on; else the device or the timer that it waits for. After Giraldeau and Dagenais, Wait
 * Analysis of Distributed Systems Using Kernel Tracing (2016), each wait bounded by its own beginning and
 * end: so the parts add up to the time, to the nanosecond.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct states;

struct path_part {
	uint64_t begin_ns, end_ns;
	uint32_t thread; /* who runs, waits for a CPU, or waits for what no thread ends */
	/* RUNNING, SPINNING, CPU, CPU_LIMIT, INTERRUPTED, SOFTIRQ, ABSENT, UNKNOWN, or what ends the wait */
	enum graph_kind kind;
	uint32_t other;         /* GRAPH_OTHER: the tid of who ended it; INTERRUPTED, SOFTIRQ: by which */
	struct graph_wait wait; /* when it waits */
	unsigned int depth;     /* threads that wait for it, one for the other */
};

struct critical_path {
	struct path_part *parts; /* in time order, without gaps but where the thread did not live */
	size_t count, capacity;
};

/* The caller frees it with critical_path_fini(). */
void critical_path_of(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      struct critical_path *out);
void critical_path_fini(struct critical_path *path);
