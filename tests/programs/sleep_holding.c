// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `sleeper` (main) sleeps for 600 ms while it holds a lock that four
 * threads, `waiter-0` to `waiter-3`, wait for.
 * Known answer: the heaviest wait is `lock`, on held_lock, in use_ledger(); its first waker is
 * sleep_with_lock() in `sleeper`, which holds it. The `sleep` in sleep_with_lock() is a quarter as
 * long; all else is stalled meanwhile.
 */
#include "roles.h"

enum { WAITERS = 4, SLEEP_MS = 600 };

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int uses; /* owned by held_lock */
static struct role waiters[WAITERS];

static OWN_FRAME void use_ledger(int number)
{
	(void)number;
	pthread_mutex_lock(&held_lock);
	uses++;
	pthread_mutex_unlock(&held_lock);
}

static OWN_FRAME void sleep_with_lock(void)
{
	pthread_mutex_lock(&held_lock);
	role_start_all(waiters, WAITERS, "waiter-%d", use_ledger);
	role_await_all(waiters, WAITERS, SYS_futex);
	sleep_ms(SLEEP_MS);
	pthread_mutex_unlock(&held_lock);
}

int main(void)
{
	role_name_self("sleeper");
	sleep_with_lock();
	role_join_all(waiters, WAITERS);
	return 0;
}
