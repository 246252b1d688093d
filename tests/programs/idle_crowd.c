// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: two threads, `left` and `right`, want the lock `till_lock` in turn, and sleep with
 * it, while a hundred threads of a pool wait for work that does not come.
 * Known answer: the first finding is of till_lock, in serve(), and costs a good part of the time, for
 * that of the idle pool does not count.
 */
#include "roles.h"

enum { IDLE = 100, TURNS = 40, TURN_MS = 10 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER, till_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER;
static int is_over; /* owned by pool_lock */

static OWN_FRAME void await_pool_work(int number)
{
	(void)number;
	pthread_mutex_lock(&pool_lock);
	while (!is_over)
		pthread_cond_wait(&pool_work, &pool_lock);
	pthread_mutex_unlock(&pool_lock);
}

static OWN_FRAME void serve(int number)
{
	(void)number;
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&till_lock);
		sleep_ms(TURN_MS);
		pthread_mutex_unlock(&till_lock);
		sleep_ms(1); /* or else the other one would never get it */
	}
}

int main(void)
{
	static struct role idle[IDLE];
	struct role busy[2];

	role_start_all(idle, IDLE, "idle-%d", await_pool_work);
	role_await_all(idle, IDLE, SYS_futex);
	role_start(&busy[0], "left", serve, 0);
	role_start(&busy[1], "right", serve, 1);
	role_join_all(busy, 2);
	pthread_mutex_lock(&pool_lock);
	is_over = 1;
	pthread_cond_broadcast(&pool_work);
	pthread_mutex_unlock(&pool_lock);
	role_join_all(idle, IDLE);
	return 0;
}
