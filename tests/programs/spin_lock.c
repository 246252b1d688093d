// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: for one second, four threads, `spinner-0` to `spinner-3`, want a hand-written
 * lock, a word that they test and set until it was clear, and hold it for 20 ms. Beside them the
 * thread `honest` computes all the time.
 * Known answer: nobody blocks but main, in its join. The time in take_spin_lock(), at spin_word, is
 * `spin`; that in hold_long() and that in compute(), of `honest`, is not.
 */
#include "roles.h"

enum { SPINNERS = 4, LENGTH_MS = 1000, HOLD_MS = 20 };

static int spin_word;			/* atomic; 1: held */
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
	(void)number;
	while (now_ns() < end_ns) {
		take_spin_lock();
		hold_long();
		release_spin_lock();
	}
}

static OWN_FRAME void compute(int number)
{
	(void)number;
	compute_ms(LENGTH_MS);
}

int main(void)
{
	struct role spinners[SPINNERS], honest;

	end_ns = now_ns() + LENGTH_MS * 1000000ull;
	role_start(&honest, "honest", compute, 0);
	role_start_all(spinners, SPINNERS, "spinner-%d", spin);
	role_join_all(spinners, SPINNERS);
	role_join_all(&honest, 1);
	return 0;
}
