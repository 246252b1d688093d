// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `cruncher` works alone, in crunch(), which calls twelve functions in
 * turn, `step_a` to `step_l`, that compute and sleep a little each.
 * Known answer: no call path stands out, but all of them go through crunch().
 */
#include "roles.h"

enum { TURNS = 12, STEP_MS = 4 };

static volatile int steps;

#define STEP(name)                       \
	static OWN_FRAME void name(void) \
	{                                \
		compute_ms(STEP_MS);     \
		sleep_ms(1);             \
		steps++;                 \
	}

/* clang-format off */
STEP(step_a) STEP(step_b) STEP(step_c) STEP(step_d) STEP(step_e) STEP(step_f)
STEP(step_g) STEP(step_h) STEP(step_i) STEP(step_j) STEP(step_k) STEP(step_l)
	/* clang-format on */

	static OWN_FRAME void crunch(void)
{
	step_a(), step_b(), step_c(), step_d(), step_e(), step_f();
	step_g(), step_h(), step_i(), step_j(), step_k(), step_l();
	steps++;
}

static OWN_FRAME void run(int number)
{
	for (number = 0; number < TURNS; number++)
		crunch();
	steps++;
}

int main(void)
{
	struct role cruncher;

	role_start(&cruncher, "cruncher", run, 0);
	role_join_all(&cruncher, 1);
	return 0;
}
