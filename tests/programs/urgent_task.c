// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * urgent_task CPU
 * Planted bottleneck: an interrupt of a timer wakes `urgent` every 50 ms, which then has that CPU for 5 ms, before
 * real-time threads of a lower priority, too. Prints a line when it begins, and goes on until it is stopped.
 */
#include "roles.h"
#include <sched.h>

enum { PERIOD_MS = 50, BUSY_MS = 5, PRIORITY = 80, LIMIT_S = 600 };

int main(int argc, char **argv)
{
	struct sched_param priority = { .sched_priority = PRIORITY };
	cpu_set_t set;

	role_name_self("urgent");
	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		puts("a process cannot come before all others here");
		return TEST_SKIPPED;
	}
	alarm(LIMIT_S);
	puts("urgent");
	fflush(stdout);
	for (;;) {
		sleep_ms(PERIOD_MS);
		compute_ms(BUSY_MS);
	}
}
