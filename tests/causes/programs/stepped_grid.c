// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads meet at a barrier after each step; one refines the boundary for 9 ms, the other one
 * relaxes the interior for 3 ms. Cured: both work for 6 ms.
 * Known answer: refine_boundary().
 */
#include "planted.h"

enum { LONG_US = 9000, SHORT_US = 3000 };

static pthread_barrier_t step_end;

static OWN_FRAME void refine_boundary(void)
{
	burn_us(is_cured ? (LONG_US + SHORT_US) / 2 : LONG_US);
}

static OWN_FRAME void relax_interior(void)
{
	burn_us(is_cured ? (LONG_US + SHORT_US) / 2 : SHORT_US);
}

static void run(int number)
{
	for (;;) {
		if (number)
			relax_interior();
		else
			refine_boundary();
		pthread_barrier_wait(&step_end);
		planted_done(number);
	}
}

int main(int argc, char **argv)
{
	struct role threads[2];

	planted_open(argc, argv);
	pthread_barrier_init(&step_end, NULL, 2);
	role_start_all(threads, 2, "step-%d", run);
	role_join_all(threads, 2);
	return 0;
}
