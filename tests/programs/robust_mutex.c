// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `owner` computes for 500 ms while it holds a robust mutex that
 * four threads, `heir-0` to `heir-3`, wait for, and ends without having unlocked it.
 * Known answer: the heaviest wait is `lock`, on ledger_lock, in take_over(). The kernel wakes the
 * first heir when `owner` exits; the other wakers are take_over().
 */
#include "roles.h"
#include <errno.h>

enum { HEIRS = 4, HOLD_MS = 500 };

static pthread_mutex_t ledger_lock;
static int orphaned_count; /* owned by ledger_lock */
static struct role heirs[HEIRS];

static OWN_FRAME void take_over(int number)
{
	(void)number;
	if (pthread_mutex_lock(&ledger_lock) == EOWNERDEAD) {
		orphaned_count++;
		pthread_mutex_consistent(&ledger_lock);
	}
	pthread_mutex_unlock(&ledger_lock);
}

static OWN_FRAME void die_with_lock(int number)
{
	(void)number;
	pthread_mutex_lock(&ledger_lock);
	role_start_all(heirs, HEIRS, "heir-%d", take_over);
	role_await_all(heirs, HEIRS, SYS_futex);
	compute_ms(HOLD_MS);
}

int main(void)
{
	pthread_mutexattr_t attributes;
	struct role owner;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&ledger_lock, &attributes);
	role_start(&owner, "owner", die_with_lock, 0);
	role_join_all(&owner, 1);
	role_join_all(heirs, HEIRS);
	return orphaned_count != 1;
}
