/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs and the engine that loads them agree upon, beyond the events.
 */
#pragma once

#include <linux/types.h>

enum {
	CPUS_MAX = 1024,
	STACK_DEPTH_MAX = 127,
};

/* Processes to trace from now on: those that run, or from their next exec on. */
enum target_kind {
	TARGET_EXISTING = 1,
	TARGET_EXEC = 2,
};

/* Counted by CPU, so that counting shares no cache line. */
struct cpu_counts {
	__u64 lost_untold;	/* records lost since the last collect.GAP */
	__u64 lost;		/* all */
	__u64 samples_lost;
	__u64 stacks;		/* taken */
	__u64 padding[4];
};
