/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what stacks cost within a budget. Below the budget every critical slice has its
 * stack; above it, slices lighter than a threshold keep theirs with the probability
 * weight / threshold, and this sets the threshold.
 */
#pragma once

#include <stdint.h>

struct governor {
	unsigned int cpu_count;
	uint64_t period_begin_ns;
	uint64_t stack_ns_before;
	uint32_t threshold_ns; /* weight above which all stacks are kept; 0: no limit */
};

void governor_init(struct governor *governor, unsigned int cpu_count, uint64_t now_ns);

/*
 * Takes the time spent so far, of all CPUs, on stacks that the threshold is for, and returns the threshold, ns of
 * CMetric, from now on.
 */
uint32_t governor_update(struct governor *governor, uint64_t now_ns, uint64_t stack_ns);
