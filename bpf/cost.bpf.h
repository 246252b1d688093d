/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracing costs the traced: one run of the scheduler's programs in TIMED_EACH has its time
 * taken, because two readings of the clock would cost more than the rest of a short run.
 */
#pragma once

#include "emit.bpf.h"

/* The time, or 0 when this run's is not taken. */
static __always_inline __u64 cost_begin(struct cpu_counts *here)
{
	__u64 run = here->runs++;

	/* One later in each round: programs that take turns must all have their share. */
	return run % TIMED_EACH == run / TIMED_EACH % TIMED_EACH ? bpf_ktime_get_ns() : 0;
}

static __always_inline void cost_end(struct cpu_counts *here, __u64 begin_ns)
{
	if (!begin_ns)
		return;
	here->timed_ns += bpf_ktime_get_ns() - begin_ns;
	here->timed_runs++;
}
