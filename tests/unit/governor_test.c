/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor against programs whose slices' weights and number are known: it must bring the
 * time that stacks take to its budget, and leave alone what is below it.
 */
#include "test.h"

#include "collect/governor.h"

static const double BUDGET = 0.003;
static const uint64_t STEP_NS = 20 * 1000 * 1000;

/* A program: so many slices a second, weights evenly from 0 to weight_max_ns, stacks that cost. */
struct load {
	double slices_a_second, weight_max_ns, stack_ns;
};

/* The share of the slices that are kept above the threshold: p is min(1, w/t). */
static double kept_share(const struct load *load, uint32_t threshold_ns)
{
	double t = threshold_ns, max = load->weight_max_ns;

	if (t <= 0)
		return 1;
	return t >= max ? max / (2 * t) : 1 - t / (2 * max);
}

/* The share of the CPUs' time that stacks take in the last of the steps. */
static double settle(const struct load *load, unsigned int cpu_count, unsigned int steps, struct governor *governor)
{
	double share = 0, stack_ns = 0;
	uint64_t now_ns = 1000;

	governor_init(governor, cpu_count, now_ns);
	for (unsigned int i = 0; i < steps; i++) {
		double taken = load->slices_a_second * STEP_NS / 1e9 * kept_share(load, governor->threshold_ns);

		stack_ns += taken * load->stack_ns;
		share = taken * load->stack_ns / STEP_NS / cpu_count;
		now_ns += STEP_NS;
		governor_update(governor, now_ns, (uint64_t)stack_ns);
	}
	return share;
}

TEST(what_costs_little_is_left_alone)
{
	struct load load = { 1000, 1e6, 2000 }; /* 0.2 % of one CPU */
	struct governor governor;

	CHECK_THAT(settle(&load, 1, 500, &governor), <, BUDGET);
	CHECK_EQUAL(governor.threshold_ns, 0);
}

TEST(the_time_that_stacks_take_comes_to_the_budget)
{
	static const struct load loads[] = {
		{ 100e3, 20e3, 1000 },
		{ 100e3, 20e3, 4000 },
		{ 10e3, 5e6, 3000 },
		{ 500e3, 3e3, 1500 },
	};

	for (unsigned int i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		for (unsigned int cpus = 1; cpus <= 4; cpus *= 2) {
			struct governor governor;
			double share = settle(&loads[i], cpus, 1500, &governor);

			CHECK_THAT(share, >, 0.7 * BUDGET);
			CHECK_THAT(share, <, 1.3 * BUDGET);
			CHECK_THAT(governor.threshold_ns, >, 0);
		}
	}
}

TEST(the_threshold_is_off_again_when_the_load_is_gone)
{
	struct load load = { 100e3, 20e3, 4000 };
	struct governor governor;
	uint64_t now_ns = 100000000000, stack_ns = 0;

	settle(&load, 1, 1000, &governor);
	CHECK_THAT(governor.threshold_ns, >, 0);
	stack_ns = governor.stack_ns_before;
	for (int i = 0; i < 200; i++)
		governor_update(&governor, now_ns += 60000000, stack_ns);
	CHECK_EQUAL(governor.threshold_ns, 0);
}

TEST(no_load_takes_it_beyond_its_bounds)
{
	struct load load = { 1e6, 1e12, 1e6 }; /* every slice is worth minutes */
	struct governor governor;

	settle(&load, 1, 3000, &governor);
	CHECK_EQUAL(governor.threshold_ns, UINT32_MAX);
}
