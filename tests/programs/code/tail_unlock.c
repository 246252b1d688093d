// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * store_row() ends with a tail call of pthread_mutex_unlock(): where the lock is released, its frame is gone.
 * Known answer: store_row() leads all the same, before make_row(), which calls it.
 */
#include "code_log.h"

enum { STORE_ROW, MAKE_ROW, PRODUCERS = 3 };

static const char *const names[] = { "store_row", "make_row", NULL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long rows;

static OWN_FRAME int store_row(void)
{
	log_enter(STORE_ROW);
	pthread_mutex_lock(&lock);
	BURN_US(800);
	return pthread_mutex_unlock(&lock);
}

static OWN_FRAME void make_row(void)
{
	log_enter(MAKE_ROW);
	BURN_US(300);
	store_row();
	log_leave(); /* store_row(), with all of its last call */
	rows++;
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static void run(int number)
{
	(void)number;
	while (log_is_time())
		make_row();
}

int main(int argc, char **argv)
{
	struct role producers[PRODUCERS];

	log_open(argc, argv, names);
	role_start_all(producers, PRODUCERS, "producer-%d", run);
	role_join_all(producers, PRODUCERS);
	return 0;
}
