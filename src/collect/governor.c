/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/governor.h"

/*
 * Of the CPUs' time. At 1 to 4 us a stack (make bench) these are thousands a second; the program
 * loses more than this, for a stack is taken with its CPU's run queue locked.
 */
static const double BUDGET = 0.003;

static const uint32_t THRESHOLD_FIRST_NS = 1000;
static const uint64_t PERIOD_NS = 50 * 1000 * 1000;

void governor_init(struct governor *governor, unsigned int cpu_count, uint64_t now_ns)
{
	*governor = (struct governor){
		.cpu_count = cpu_count,
		.period_begin_ns = now_ns,
	};
}

uint32_t governor_update(struct governor *governor, uint64_t now_ns, uint64_t stack_ns)
{
	uint64_t period_ns = now_ns - governor->period_begin_ns;
	double excess, threshold_ns = governor->threshold_ns;

	if (period_ns < PERIOD_NS)
		return governor->threshold_ns;
	excess = (double)(stack_ns - governor->stack_ns_before) / period_ns / (BUDGET * governor->cpu_count);
	governor->period_begin_ns = now_ns;
	governor->stack_ns_before = stack_ns;

	if (!governor->threshold_ns) {
		if (excess > 1)
			governor->threshold_ns = THRESHOLD_FIRST_NS;
		return governor->threshold_ns;
	}
	/*
	 * The time falls with the threshold, at most in proportion to it. Rise fast, for the
	 * program pays; fall slowly, for a burst is often followed by another.
	 */
	threshold_ns *= excess > 4 ? 4 : excess < 0.8 ? 0.8 : excess;
	if (threshold_ns < THRESHOLD_FIRST_NS / 4)
		threshold_ns = 0;
	else if (threshold_ns > UINT32_MAX)
		threshold_ns = UINT32_MAX;
	governor->threshold_ns = (uint32_t)threshold_ns;
	return governor->threshold_ns;
}
