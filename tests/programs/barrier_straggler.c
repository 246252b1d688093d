// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: eight threads meet at a barrier eight times. The thread `straggler` (main) is
 * always the last to come: it computes for 100 ms when the seven others, `step-0` to `step-6`, wait
 * already.
 * Known answer: the heaviest wait is `barrier`, on step_barrier, in run_steps(); its waker is
 * `straggler`, which leads by straggle().
 */
#include "roles.h"

enum { OTHERS = 7, STEPS = 8, STRAGGLE_MS = 100 };

static pthread_barrier_t step_barrier;

static OWN_FRAME void straggle(void)
{
	compute_ms(STRAGGLE_MS);
}

static OWN_FRAME void run_steps(int number)
{
	(void)number;
	for (int i = 0; i < STEPS; i++)
		pthread_barrier_wait(&step_barrier);
}

int main(void)
{
	struct role others[OTHERS];

	role_name_self("straggler");
	pthread_barrier_init(&step_barrier, NULL, OTHERS + 1);
	role_start_all(others, OTHERS, "step-%d", run_steps);
	for (int i = 0; i < STEPS; i++) {
		role_await_all(others, OTHERS, SYS_futex);
		straggle();
		pthread_barrier_wait(&step_barrier);
	}
	role_join_all(others, OTHERS);
	return 0;
}
