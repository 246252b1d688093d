// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: for one second, four threads, `spinner-0` to `spinner-3`, want a hand-written
 * lock, a word that they test and set until it was clear, and hold it for 20 ms. Beside them the
 * thread `honest` computes all the time. Prints for how many nanoseconds of CPU time they wanted the
 * lock, and how many they had in all.
 * Known answer: nobody blocks but main, in its join. The time in take_spin_lock(), at spin_word, is
 * `spin`; that in hold_long() and that in compute(), of `honest`, is not.
 */
#include "roles.h"

enum { SPINNERS = 4, LENGTH_MS = 1000, HOLD_MS = 20 };

static int spin_word;            /* atomic; 1: held */
static uint64_t spun_ns, ran_ns; /* atomic */
static uint64_t end_ns;

static OWN_FRAME void take_spin_lock(void)
{
	while (__atomic_exchange_n(&spin_word, 1, __ATOMIC_ACQUIRE))
		;
}

static OWN_FRAME void release_spin_lock(void)
{
	__atomic_store_n(&spin_word, 0, __ATOMIC_RELEASE);
}

static OWN_FRAME void hold_long(void)
{
	compute_ms(HOLD_MS);
}

static void spin(int number)
{
	uint64_t begin_ns, own_ns = 0;

	(void)number;
	while (now_ns() < end_ns) {
		begin_ns = cpu_time_ns();
		take_spin_lock();
		own_ns += cpu_time_ns() - begin_ns;
		hold_long();
		release_spin_lock();
	}
	__atomic_fetch_add(&spun_ns, own_ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ran_ns, cpu_time_ns(), __ATOMIC_RELAXED);
}

static OWN_FRAME void compute(int number)
{
	(void)number;
	compute_ms(LENGTH_MS);
	__atomic_fetch_add(&ran_ns, cpu_time_ns(), __ATOMIC_RELAXED);
}

int main(void)
{
	struct role spinners[SPINNERS], honest;

	end_ns = now_ns() + LENGTH_MS * 1000000ull;
	role_start(&honest, "honest", compute, 0);
	role_start_all(spinners, SPINNERS, "spinner-%d", spin);
	role_join_all(spinners, SPINNERS);
	role_join_all(&honest, 1);
	printf("%llu %llu\n", (unsigned long long)spun_ns, (unsigned long long)ran_ns);
	return 0;
}
