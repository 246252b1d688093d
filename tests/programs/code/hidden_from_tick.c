// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that sleeps whenever the kernel's tick comes, and computes in between; beside it one that computes
 * in one half of the time and sleeps in the other. Known answer: between_ticks(), which is alone in that half,
 * leads, though no sample at a tick ever meets it.
 */
#include "tick.h"

enum { BETWEEN_TICKS, FULL_TURN, TURN_TICKS = 5 };

static const char *const names[] = { "between_ticks", "full_turn", NULL };

WORK_UNTIL(between_ticks, BETWEEN_TICKS)
WORK_UNTIL(full_turn, FULL_TURN)

static void run_hidden(int number)
{
	uint64_t last_ns;

	(void)number;
	while (log_is_time()) {
		last_ns = tick_last_ns();
		between_ticks(last_ns + tick_period_ns * 17 / 20);
		sleep_until(last_ns + tick_period_ns * 23 / 20);
	}
}

static void run_steady(int number)
{
	(void)number;
	while (log_is_time()) {
		full_turn(now_ns() + TURN_TICKS * tick_period_ns);
		sleep_until(now_ns() + TURN_TICKS * tick_period_ns);
	}
}

int main(int argc, char **argv)
{
	struct role hidden, steady;

	log_open(argc, argv, names);
	tick_find();
	role_start(&hidden, "hidden", run_hidden, 0);
	role_start(&steady, "steady", run_steady, 0);
	role_join_all(&hidden, 1);
	role_join_all(&steady, 1);
	return 0;
}
