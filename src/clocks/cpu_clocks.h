/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the clocks of this machine's CPUs agree: CLOCK_MONOTONIC is computed from a counter that each CPU has. Measured as
 * between hosts (clock_sample.h), with a word of shared memory in place of packets, from one CPU to each other one.
 */
#pragma once

#include <stdint.h>

#include "clocks/clock_sample.h"

struct cpu_clocks {
	unsigned int cpu_count; /* that were compared with the first one: less than all if others kept them busy */
	uint64_t apart_ns;      /* no two readings are further apart than that, with the uncertainty */
	uint64_t surplus_ns;    /* how far they are apart for certain; 0: they agree as well as can be measured */
};

/* Of the CPUs that this thread may use. 0, or a negative errno: there is only one (-ENOENT), or no process for it. */
int cpu_clocks_measure(struct cpu_clocks *out);

/* What the samples of one CPU, at least one, say of it. Adds to out. */
void cpu_clocks_add(struct cpu_clocks *out, const struct clock_sample *samples, size_t count);
