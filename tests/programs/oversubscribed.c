// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: eight threads, `crunch-0` to `crunch-7`, which never wait for anything
 * compute on one and the same CPU until each has had 120 ms of it.
 * Known answer: what is lost is `preempted`: the threads are runnable several times as long as they
 * run. Nothing else waits but main, in its join.
 */
#include "roles.h"
#include <sched.h>

enum { THREADS = 8, CPU_MS = 120 };

static int cpu;

static OWN_FRAME void crunch(int number)
{
	volatile uint64_t x = number;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	while (cpu_time_ns() < CPU_MS * 1000000ull)
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
}

int main(void)
{
	struct role threads[THREADS];

	cpu = sched_getcpu();
	role_start_all(threads, THREADS, "crunch-%d", crunch);
	role_join_all(threads, THREADS);
	return 0;
}
