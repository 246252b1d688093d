/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What exchanges between CPUs say of their clocks. */
#include "test.h"

#include <errno.h>

#include "clocks/cpu_clocks.h"

static void add(struct cpu_clocks *clocks, int64_t offset_ns, uint64_t there_ns, uint64_t back_ns)
{
	struct clock_sample samples[3];

	for (int i = 0; i < 3; i++) {
		uint64_t t0 = 1000000 + 10000 * i, t1 = t0 + there_ns * (i + 1) + offset_ns;

		samples[i] = (struct clock_sample){ t0, t1, t1, t1 - offset_ns + back_ns * (3 - i) };
	}
	cpu_clocks_add(clocks, samples, 3);
}

TEST(clocks_that_agree_are_apart_by_no_more_than_a_message_takes)
{
	struct cpu_clocks clocks = { 0 };

	add(&clocks, 0, 50, 70);
	CHECK_EQUAL(clocks.cpu_count, 1);
	CHECK_EQUAL(clocks.surplus_ns, 0);
	CHECK_EQUAL(clocks.apart_ns, 70);
}

TEST(a_clock_that_is_ahead_or_behind_is_found)
{
	struct cpu_clocks ahead = { 0 }, behind = { 0 };

	add(&ahead, 500, 50, 70);
	CHECK_EQUAL(ahead.surplus_ns, 430);
	CHECK_EQUAL(ahead.apart_ns, 550);
	add(&behind, -500, 50, 70);
	CHECK_EQUAL(behind.surplus_ns, 450);
	CHECK_EQUAL(behind.apart_ns, 570);
}

TEST(of_several_cpus_the_worst_counts)
{
	struct cpu_clocks clocks = { 0 };

	add(&clocks, 500, 50, 70);
	add(&clocks, 0, 50, 70);
	CHECK_EQUAL(clocks.cpu_count, 2);
	CHECK_EQUAL(clocks.surplus_ns, 430);
	CHECK_EQUAL(clocks.apart_ns, 550);
}

/* The kernel gives every CPU the same time, whatever their counters do. */
TEST(this_machines_cpus_agree)
{
	struct cpu_clocks clocks;
	int err = cpu_clocks_measure(&clocks);

	CHECK(!err || err == -ENOENT);
	CHECK_EQUAL(clocks.surplus_ns, 0);
}
