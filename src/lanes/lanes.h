/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lanes of the viewer: what there is a line for, in a tree of hosts, CPUs, processes, threads of one name, threads. A lane stands for
 * all threads below it; these are neighbours in one list.
 *
 * Owns: what the viewer draws and lists of a trace: lanes, their tiles, activities, waits, what a state was.
 * Used by: export, show, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "states/state.h"

struct text;
struct trace_states;

enum { LANE_NONE = UINT32_MAX };

struct lane {
	enum lane_kind kind;
	uint32_t parent; /* its index, which is lower; LANE_NONE */
	const char *name;
	uint32_t tid, pid;                   /* in the program's container; 0: it stands for several */
	uint32_t cpu;                        /* LANE_CPU */
	uint32_t first_thread, thread_count; /* in lanes.threads */
	uint64_t begin_ns, end_ns;           /* from the first to the last state; CLOCK_MONOTONIC */
	uint64_t ns[SHARES];                 /* of all its threads; of a CPU nothing */
};

struct lane_thread {
	uint32_t number;
	uint32_t lane;             /* the innermost one that it is in */
	uint64_t begin_ns, end_ns; /* of its life; CLOCK_MONOTONIC */
};

struct lanes {
	struct lane *list; /* a parent before what is below it, which comes next */
	size_t count;
	struct lane_thread *threads;
	size_t thread_count;
	size_t left_out; /* threads without a lane of their own, since there are too many */
	struct arena *arena;
};

/* Of all traced threads; of very many, not each has a lane of its own, but all are in those of their processes. Names are escaped by nobody. To be freed with lanes_fini(). */
void lanes_of_trace(const struct trace_states *all, struct lanes *out);
void lanes_fini(struct lanes *lanes);

/* Two traces, or one that has grown, have the same key only if their lanes are the same; what a tile says of them may differ where it ends behind both. */
uint64_t lanes_key(const struct trace_states *all, const struct lanes *lanes);

/* A time that is certainly lost: ready without a CPU, or kept by others' locks, faults, disks. At most what the lane's threads lived. */
uint64_t lane_lost_ns(const struct lane *lane);

/* Whether it has next to nothing to show: it waits nearly all the time, for what may be nothing. */
bool lane_is_idle(const struct lane *lane);
