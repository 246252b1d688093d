// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `holder` (main) keeps a mutex with priority inheritance for 600 ms
 * while four threads, `waiter-0` to `waiter-3`, wait for it.
 * Known answer: the heaviest wait is `lock`, on pi_lock, a pi-mutex held by `holder`, in
 * use_ledger(); its wakers are hold_ledger() in `holder` and, behind it, use_ledger().
 */
#include "roles.h"

enum { WAITERS = 4, HOLD_MS = 600 };

static pthread_mutex_t pi_lock;
static volatile int uses; /* owned by pi_lock */
static struct role waiters[WAITERS];

static OWN_FRAME void use_ledger(int number)
{
	(void)number;
	pthread_mutex_lock(&pi_lock);
	uses++;
	pthread_mutex_unlock(&pi_lock);
}

static OWN_FRAME void hold_ledger(void)
{
	pthread_mutex_lock(&pi_lock);
	role_start_all(waiters, WAITERS, "waiter-%d", use_ledger);
	role_await_all(waiters, WAITERS, SYS_futex);
	compute_ms(HOLD_MS);
	pthread_mutex_unlock(&pi_lock);
}

int main(void)
{
	pthread_mutexattr_t attributes;

	role_name_self("holder");
	pthread_mutexattr_init(&attributes);
	if (pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&pi_lock, &attributes))
		die("pthread_mutex_init");
	hold_ledger();
	role_join_all(waiters, WAITERS);
	return 0;
}
