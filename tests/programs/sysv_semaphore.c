// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the process `holder` (the first) has a System V semaphore and computes for
 * 600 ms when the process `waiter`, its child, wants it, too.
 * Known answer: the heaviest wait is on a sysv-semaphore, in take_semaphore(); its waker is
 * give_semaphore() in `holder`.
 */
#include "roles.h"
#include <sys/sem.h>

enum { HOLD_MS = 600 };

static int id;

static void add(short count)
{
	struct sembuf operation = { .sem_op = count };

	if (semop(id, &operation, 1))
		die("semop");
}

static OWN_FRAME void take_semaphore(void)
{
	add(-1);
}

static OWN_FRAME void give_semaphore(void)
{
	add(1);
}

int main(void)
{
	pid_t waiter;

	role_name_self("holder");
	id = semget(IPC_PRIVATE, 1, 0600); /* its value is 0: `holder` has it */
	if (id < 0)
		die("semget");
	waiter = role_fork("waiter", take_semaphore);
	await_blocked(waiter, ANY_CALL);
	compute_ms(HOLD_MS);
	give_semaphore();
	role_wait(waiter);
	semctl(id, 0, IPC_RMID);
	return 0;
}
