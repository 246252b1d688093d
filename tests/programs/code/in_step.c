// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread in step with the kernel's tick: it runs across_tick() whenever one comes, for a fifth of the time,
 * and before_tick() for half of it. Known answer: before_tick() leads, though every sample at a tick finds
 * the thread in the other one.
 */
#include "tick.h"

enum { ACROSS_TICK, BEFORE_TICK };

static const char *const names[] = { "across_tick", "before_tick", NULL };

WORK_UNTIL(across_tick, ACROSS_TICK)
WORK_UNTIL(before_tick, BEFORE_TICK)

static void run(int number)
{
	uint64_t last_ns;

	(void)number;
	while (log_is_time()) {
		last_ns = tick_last_ns();
		sleep_until(last_ns + tick_period_ns * 3 / 10);
		before_tick(last_ns + tick_period_ns * 8 / 10);
		sleep_until(last_ns + tick_period_ns * 9 / 10);
		across_tick(last_ns + tick_period_ns * 11 / 10);
	}
}

int main(int argc, char **argv)
{
	struct role thread;

	log_open(argc, argv, names);
	tick_find();
	role_start(&thread, "in-step", run, 0);
	role_join_all(&thread, 1);
	return 0;
}
