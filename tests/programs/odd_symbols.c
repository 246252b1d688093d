// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: without debug information, and with symbols that no compiler gives: programs.mk calls
 * plain_lock, plain_hold and plain_wait by names with a newline, an escape sequence and invalid
 * UTF-8, the last one of 5 000 bytes. `holder` (main) computes for 300 ms when `waiter` wants its
 * lock.
 * Known answer: the heaviest wait is `lock` on what plain_lock is called, in what plain_wait is
 * called, ended by what plain_hold is called.
 */
#include "roles.h"

enum { HOLD_MS = 300 };

pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
static struct role waiter;

OWN_FRAME void plain_wait(int number)
{
	(void)number;
	pthread_mutex_lock(&plain_lock);
	pthread_mutex_unlock(&plain_lock);
}

OWN_FRAME void plain_hold(void)
{
	pthread_mutex_lock(&plain_lock);
	role_start(&waiter, "waiter", plain_wait, 0);
	role_await_all(&waiter, 1, SYS_futex);
	compute_ms(HOLD_MS);
	pthread_mutex_unlock(&plain_lock);
}

int main(void)
{
	role_name_self("holder");
	plain_hold();
	role_join_all(&waiter, 1);
	return 0;
}
