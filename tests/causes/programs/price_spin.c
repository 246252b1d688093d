// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads take a spin lock for 1 ms at a time: one always waits with its CPU. Cured: a lock a
 * thread.
 * Known answer: spinning in quote_price(), for prices_lock.
 */
#include "planted.h"

enum { THREADS = 2, QUOTE_US = 1000, FREE_US = 50 };

static pthread_spinlock_t prices_lock, own_locks[THREADS];

static OWN_FRAME void quote_price(pthread_spinlock_t *lock)
{
	pthread_spin_lock(lock);
	burn_us(QUOTE_US);
	pthread_spin_unlock(lock);
}

static void run(int number)
{
	pthread_spin_init(&own_locks[number], PTHREAD_PROCESS_PRIVATE);
	for (;;) {
		quote_price(is_cured ? &own_locks[number] : &prices_lock);
		burn_us(FREE_US);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	pthread_spin_init(&prices_lock, PTHREAD_PROCESS_PRIVATE);
	role_start_all(threads, THREADS, "quoter-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
