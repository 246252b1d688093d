// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four threads look up routes under a read lock; now and then one thread rebuilds all routes for
 * 200 ms under the write lock. Cured: it rebuilds them before it takes the lock.
 * Known answer: reload_routes().
 */
#include "planted.h"

enum { READERS = 4, LOOKUP_US = 40, RELOAD_US = 200000, PAUSE_MS = 200 };

static pthread_rwlock_t routes_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static OWN_FRAME void look_up(void)
{
	burn_us(LOOKUP_US);
}

static OWN_FRAME void reload_routes(void)
{
	burn_us(RELOAD_US);
}

static void run_reader(int number)
{
	for (number = 0;; number++) {
		pthread_rwlock_rdlock(&routes_lock);
		look_up();
		pthread_rwlock_unlock(&routes_lock);
		planted_done(1);
	}
}

static void run_reloader(int number)
{
	for (number = 0;; number++) {
		if (is_cured)
			reload_routes();
		pthread_rwlock_wrlock(&routes_lock);
		if (!is_cured)
			reload_routes();
		pthread_rwlock_unlock(&routes_lock);
		sleep_ms(PAUSE_MS);
	}
}

int main(int argc, char **argv)
{
	struct role readers[READERS], reloader;

	planted_open(argc, argv);
	role_start_all(readers, READERS, "reader-%d", run_reader);
	role_start(&reloader, "reloader", run_reloader, 0);
	role_join_all(readers, READERS);
	return 0;
}
