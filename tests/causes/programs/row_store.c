// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: store_row() works under a lock and ends with a tail call of pthread_mutex_unlock(): where the lock
 * is released, its frame is gone. Cured: a lock a thread.
 * Known answer: store_row().
 */
#include "planted.h"

enum { THREADS = 3, STORE_US = 1000, PARSE_US = 100 };

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER, own_locks[THREADS];

static OWN_FRAME int store_row(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	burn_us(STORE_US);
	return pthread_mutex_unlock(lock);
}

static OWN_FRAME void parse_row(void)
{
	burn_us(PARSE_US);
}

static void run(int number)
{
	pthread_mutex_init(&own_locks[number], NULL);
	for (;;) {
		parse_row();
		store_row(is_cured ? &own_locks[number] : &store_lock);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	role_start_all(threads, THREADS, "importer-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
