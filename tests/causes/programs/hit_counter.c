// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four threads hold one mutex for most of each request, shortly: a convoy. Cured: a mutex a thread.
 * Known answer: hits_lock, or count_hit(), which holds it.
 */
#include "planted.h"

enum { THREADS = 4, HELD_US = 40, FREE_US = 10 };

static pthread_mutex_t hits_lock = PTHREAD_MUTEX_INITIALIZER, own_locks[THREADS];

static OWN_FRAME void count_hit(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	burn_us(HELD_US);
	pthread_mutex_unlock(lock);
}

static OWN_FRAME void serve_hit(void)
{
	burn_us(FREE_US);
}

static void run(int number)
{
	pthread_mutex_t *lock = is_cured ? &own_locks[number] : &hits_lock;

	pthread_mutex_init(&own_locks[number], NULL);
	for (;;) {
		serve_hit();
		count_hit(lock);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	role_start_all(threads, THREADS, "counter-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
