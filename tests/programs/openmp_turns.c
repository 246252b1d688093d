// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * openmp_turns [asleep]
 * Planted bottleneck: two threads of OpenMP meet six times at a barrier. `even` computes for 5 ms
 * before it, `straggler` (main) for 150 ms, with `asleep` when it has seen that `even` sleeps. Prints for how many nanoseconds of CPU time they were at
 * the barrier, and how many they had in all. Ends with status 77 where there is only one CPU: then
 * the library does not wait with it.
 * Known answer: with OMP_WAIT_POLICY=active `even` waits with its CPU: `spin`, in the library of
 * OpenMP. With OMP_WAIT_POLICY=passive it sleeps: `barrier`, in meet(), for `straggler`.
 */
#include "roles.h"
#include <omp.h>

enum { THREADS = 2, STEPS = 6, STRAGGLE_MS = 150, EVEN_MS = 5 };

static uint64_t waited_ns, ran_ns; /* atomic */
static pid_t even;                 /* atomic; 0 until it runs */
static int is_awaited;

static OWN_FRAME void straggle(void)
{
	while (is_awaited && !__atomic_load_n(&even, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	if (is_awaited)
		await_blocked(even, SYS_futex);
	compute_ms(STRAGGLE_MS);
}

static OWN_FRAME void meet(void)
{
	uint64_t begin_ns = cpu_time_ns();

#pragma omp barrier
	__atomic_fetch_add(&waited_ns, cpu_time_ns() - begin_ns, __ATOMIC_RELAXED);
}

static void take_steps(int number)
{
	role_name_self(number ? "even" : "straggler");
	if (number)
		__atomic_store_n(&even, gettid(), __ATOMIC_SEQ_CST);
	for (int i = 0; i < STEPS; i++) {
		if (number)
			compute_ms(EVEN_MS);
		else
			straggle();
		meet();
	}
	__atomic_fetch_add(&ran_ns, cpu_time_ns(), __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	is_awaited = argc > 1 && !strcmp(argv[1], "asleep");
	if (omp_get_num_procs() < THREADS) {
		puts("there is only one CPU");
		return TEST_SKIPPED;
	}
#pragma omp parallel num_threads(THREADS)
	take_steps(omp_get_thread_num());
	printf("%llu %llu\n", (unsigned long long)waited_ns, (unsigned long long)ran_ns);
	return 0;
}
