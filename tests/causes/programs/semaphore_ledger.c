// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four processes take a System V semaphore for 900 of 1,000 us of each entry. Cured: one a process.
 * Known answer: post_entry(), which has the semaphore.
 */
#include "planted.h"

#include <errno.h>
#include <sys/sem.h>
#include <sys/wait.h>

enum { PROCESSES = 4, HELD_US = 900, FREE_US = 100 };

static int semaphores;

static void change(int number, int by)
{
	struct sembuf operation = { .sem_num = number, .sem_op = by, .sem_flg = SEM_UNDO };

	while (semop(semaphores, &operation, 1) && errno == EINTR)
		;
}

static OWN_FRAME void post_entry(int number)
{
	change(number, -1);
	burn_us(HELD_US);
	change(number, 1);
}

static OWN_FRAME void read_entry(void)
{
	burn_us(FREE_US);
}

static void run(int number)
{
	for (;;) {
		read_entry();
		post_entry(is_cured ? number : 0);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	planted_open(argc, argv);
	semaphores = semget(IPC_PRIVATE, PROCESSES, 0600);
	if (semaphores < 0)
		die("semget");
	for (int i = 0; i < PROCESSES; i++)
		change(i, 1);
	for (int i = 0; i < PROCESSES; i++)
		if (!fork())
			run(i);
	/* It goes when its last user does. */
	while (wait(NULL) > 0)
		;
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
