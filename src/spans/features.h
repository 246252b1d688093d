/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an execution is like: how long it did what, and how often (DepGraph, section IV-A).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "spans/execution.h"
#include "states/state.h"

struct session;
struct states;

struct features {
	uint64_t duration_ns;
	/* By state_share(); a state that goes on over an end is one of the execution's, clipped. */
	uint64_t ns[SHARES], count[SHARES];
	/* Calls that read or wrote, whether they had to wait or not, and faults of pages. */
	uint64_t transfers, read_bytes, written_bytes, faults;
	/* Of calls that had to wait: how many bytes they were to read or to write, where that is recorded. */
	uint64_t io_count, io_bytes;
	uint64_t wakes; /* of other threads, by this one */
	/* With --system only. */
	uint64_t interrupts, softirqs;     /* that took its CPU meanwhile */
	uint64_t block_count, block_bytes; /* what it asked devices for itself */
};

/* What a thread did of an execution, which may go from thread to thread. */
struct execution_part {
	uint64_t begin_ns, end_ns;
	uint32_t thread;
	size_t execution; /* which one, by its place in the list */
};

/* The caller owns the array. */
struct execution_parts {
	struct execution_part *list;
	size_t count, capacity;
};

/*
 * Adds the parts of the execution at that place, in time order: one, or those of its critical path, which goes back from the thread
 * in which it ended.
 */
void execution_parts_add(struct states *states, const struct execution *execution, size_t place,
			 struct execution_parts *out);

/* Duration, and what the kernel counted. */
void features_of_execution(const struct execution *execution, struct features *out);

/* Adds the states of a part to those of its execution. */
void features_of_states(struct states *states, const struct execution_part *part, struct features *out);

/*
 * The rest, of a trace's events that are handed out in time order: adds to features[i] what happened in the parts of
 * execution i. The parts are by their beginnings, and borrowed as the features are.
 */
struct feature_counts;
struct feature_counts *feature_counts_new(struct session *session, const struct execution_parts *parts,
					  struct features *features);
void feature_counts_free(struct feature_counts *counts);
