// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: four threads meet six times at a barrier at which they wait with their CPUs,
 * as OpenMP and MPI programs do. `even-0` to `even-2` come after 5 ms; `straggler` (main) computes for
 * 200 ms. With the argument `fair` it computes for as long as the others, with `asleep` it sleeps for 40 ms, and they meet
 * more often. Prints for how many nanoseconds of CPU time they waited, and how many they had in all.
 * Known answer: nobody blocks, so all threads look equally active, and each has about a quarter of
 * the CMetric. Most of the running time is `spin`, in spin_barrier_wait(), until barrier_turn changes.
 * With --spin-inactive `straggler` has nearly all of the CMetric, by straggle().
 */
#include "roles.h"

enum { EVEN = 3, STEPS = 6, FAIR_STEPS = 60, ASLEEP_STEPS = 20, STRAGGLE_MS = 200, ASLEEP_MS = 40, EVEN_MS = 5 };

static unsigned int arrived, barrier_turn; /* atomic */
static uint64_t spun_ns, ran_ns;           /* atomic */
static int is_fair, is_asleep;

static OWN_FRAME void spin_barrier_wait(void)
{
	unsigned int turn = __atomic_load_n(&barrier_turn, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == EVEN + 1) {
		__atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&barrier_turn, turn + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&barrier_turn, __ATOMIC_ACQUIRE) == turn)
#ifdef __x86_64__
		__builtin_ia32_pause()
#endif
			;
}

static int step_count(void)
{
	return is_fair ? FAIR_STEPS : is_asleep ? ASLEEP_STEPS : STEPS;
}

static void meet(void)
{
	uint64_t begin_ns = cpu_time_ns();

	spin_barrier_wait();
	__atomic_fetch_add(&spun_ns, cpu_time_ns() - begin_ns, __ATOMIC_RELAXED);
}

static OWN_FRAME void straggle(void)
{
	if (is_asleep)
		sleep_ms(ASLEEP_MS);
	else
		compute_ms(is_fair ? EVEN_MS : STRAGGLE_MS);
}

static OWN_FRAME void work_evenly(int number)
{
	(void)number;
	for (int i = 0; i < step_count(); i++) {
		compute_ms(EVEN_MS);
		meet();
	}
	__atomic_fetch_add(&ran_ns, cpu_time_ns(), __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	struct role even[EVEN];

	is_fair = argc > 1 && !strcmp(argv[1], "fair");
	is_asleep = argc > 1 && !strcmp(argv[1], "asleep");
	role_name_self("straggler");
	role_start_all(even, EVEN, "even-%d", work_evenly);
	for (int i = 0; i < step_count(); i++) {
		straggle();
		meet();
	}
	__atomic_fetch_add(&ran_ns, cpu_time_ns(), __ATOMIC_RELAXED);
	role_join_all(even, EVEN);
	printf("%llu %llu\n", (unsigned long long)spun_ns, (unsigned long long)ran_ns);
	return 0;
}
