// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stolen_cpu thief | CPU
 * Planted bottleneck: the thread `victim` computes on one CPU until it has had 40 ms of it. Of each 10 ms
 * a process that is not traced has 8 there, before all others: `stolen_cpu thief`, named `cpu-thief`,
 * which prints the number of the CPU first.
 * Known answer: most of the victim's time is `preempted`, and most of that while cpu-thief ran.
 */
#include "roles.h"
#include <sched.h>

enum { CPU_MS = 40, STOLEN_MS = 8, LEFT_MS = 2, THIEF_LIMIT_S = 120 };

static int cpu;

static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static OWN_FRAME void crunch(int number)
{
	(void)number;
	stay();
	do {
		volatile uint64_t x = 1;

		for (int i = 0; i < 10000; i++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
	} while (cpu_time_ns() < CPU_MS * 1000000ull);
}

static int steal(void)
{
	struct sched_param priority = { .sched_priority = 1 };

	role_name_self("cpu-thief");
	cpu = sched_getcpu();
	stay();
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		puts("a process cannot come before all others here");
		return TEST_SKIPPED;
	}
	alarm(THIEF_LIMIT_S);
	printf("%d\n", cpu);
	fflush(stdout);
	for (;;) {
		compute_ms(STOLEN_MS);
		sleep_ms(LEFT_MS);
	}
}

int main(int argc, char **argv)
{
	struct role victim;

	if (argc < 2 || !strcmp(argv[1], "thief"))
		return steal();
	cpu = atoi(argv[1]);
	role_start(&victim, "victim", crunch, 0);
	role_join_all(&victim, 1);
	return 0;
}
