// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: eight threads, the thread `merger` (main) and `part-0` to `part-6`, compute
 * their parts for 20 ms together, then `merger` merges the results for 100 ms while the others wait
 * at a barrier, and so on six times.
 * Known answer: the heaviest wait is `barrier`, on phase_barrier, in await_merge(); its waker is
 * `merger`, which leads by merge_results().
 */
#include "roles.h"

enum { OTHERS = 7, PHASES = 6, PART_MS = 20, MERGE_MS = 100 };

static pthread_barrier_t phase_barrier;
static struct role others[OTHERS];
static int parts_ready; /* atomic; of all phases */

static OWN_FRAME void compute_part(void)
{
	compute_ms(PART_MS);
}

static OWN_FRAME void await_parts(void)
{
	pthread_barrier_wait(&phase_barrier);
}

static OWN_FRAME void await_merge(void)
{
	pthread_barrier_wait(&phase_barrier);
}

/* It begins when all others are at the second barrier, none still on its way out of the first. */
static OWN_FRAME void merge_results(int phase)
{
	while (__atomic_load_n(&parts_ready, __ATOMIC_SEQ_CST) < (phase + 1) * OTHERS)
		sleep_ms(1);
	role_await_all(others, OTHERS, SYS_futex);
	compute_ms(MERGE_MS);
}

static void run_phases(int number)
{
	for (int i = 0; i < PHASES; i++) {
		compute_part();
		await_parts();
		if (number < 0)
			merge_results(i);
		else
			__atomic_fetch_add(&parts_ready, 1, __ATOMIC_SEQ_CST);
		await_merge();
	}
}

int main(void)
{
	role_name_self("merger");
	pthread_barrier_init(&phase_barrier, NULL, OTHERS + 1);
	role_start_all(others, OTHERS, "part-%d", run_phases);
	run_phases(-1);
	role_join_all(others, OTHERS);
	return 0;
}
