// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four processes append to one mailbox under a lock of the file, spool.lock, and compute while they
 * hold it. Cured: a lock file a process.
 * Known answer: the lock of spool.lock, held by append_mail().
 */
#include "planted.h"
#include <sys/file.h>

enum { PROCESSES = 4, APPEND_US = 4000, SORT_US = 400 };

static int number;

static OWN_FRAME void append_mail(int fd)
{
	if (flock(fd, LOCK_EX))
		die("flock");
	burn_us(APPEND_US);
	if (flock(fd, LOCK_UN))
		die("flock");
}

static OWN_FRAME void sort_mail(void)
{
	burn_us(SORT_US);
}

static void run(void)
{
	char name[32] = "spool.lock";
	int fd;

	if (is_cured)
		snprintf(name, sizeof(name), "spool-%d.lock", number);
	fd = open(name, O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		die(name);
	for (;;) {
		sort_mail();
		append_mail(fd);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	pid_t pids[PROCESSES];

	planted_open(argc, argv);
	for (number = 0; number < PROCESSES; number++)
		pids[number] = role_fork("deliver", run);
	for (number = 0; number < PROCESSES; number++)
		role_wait(pids[number]);
	return 0;
}
