// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: main waits for the end of the thread `slow`, which computes for 700 ms when
 * main waits already.
 * Known answer: the heaviest wait is `join`, in collect_result(); what ends it is the exit of
 * `slow`, which leads by slow_work().
 */
#include "roles.h"

enum { SLOW_MS = 700 };

static pid_t main_tid;

static OWN_FRAME void slow_work(int number)
{
	(void)number;
	await_blocked(main_tid, SYS_futex);
	compute_ms(SLOW_MS);
}

static OWN_FRAME void collect_result(struct role *role)
{
	role_join_all(role, 1);
}

int main(void)
{
	struct role slow;

	main_tid = gettid();
	role_start(&slow, "slow", slow_work, 0);
	collect_result(&slow);
	return 0;
}
