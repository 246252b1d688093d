/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <sched.h>

#include "collect/target/cpus.h"

static cpu_set_t allowed(void)
{
	cpu_set_t cpus;

	CHECK(!sched_getaffinity(0, sizeof(cpus), &cpus));
	return cpus;
}

TEST(a_visit_goes_to_each_cpu_and_the_thread_may_use_the_same_ones_after_it)
{
	cpu_set_t before = allowed(), after;

	CHECK_EQUAL(cpus_visit(), (unsigned int)CPU_COUNT(&before));
	after = allowed();
	CHECK(CPU_EQUAL(&before, &after));
}

TEST(cpus_that_the_thread_may_not_use_are_not_visited)
{
	cpu_set_t before = allowed(), one, after;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
	CHECK_EQUAL(cpus_visit(), 1);
	CHECK_EQUAL(sched_getcpu(), cpu);
	after = allowed();
	CHECK(CPU_EQUAL(&one, &after));
	CHECK(!sched_setaffinity(0, sizeof(before), &before));
}
