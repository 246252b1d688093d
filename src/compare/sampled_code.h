/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran in executions, or in a part of a run, by samples scaled to the exact running time: doc/metrics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph_labels;
struct run_code;
struct side_code;

/* A time of a thread, and for how long of it the thread ran. */
struct ran_part {
	uint32_t thread;
	uint64_t begin_ns, end_ns, running_ns;
};

struct sampled_options {
	bool is_by_own; /* what libraries and the kernel did is their caller's in the program itself; no totals */
	bool spreads;   /* the parts are executions, of which others may have been met: errors heed how they differ */
};

/*
 * Adds to code, which is empty, the running time of functions in all parts. Places of samples have their names; parts
 * of one thread do not overlap.
 */
void sampled_code_add(struct side_code *code, const struct run_code *samples, const struct graph_labels *labels,
		      const struct ran_part *parts, size_t part_count, const struct sampled_options *options);
