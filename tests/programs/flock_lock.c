// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flock_lock [DIRECTORY]			(.)
 * Planted bottleneck: the process `holder` (the first) has a lock of flock() on a file and computes
 * for 600 ms when the process `waiter`, its child, wants it, too.
 * Known answer: the heaviest wait is `lock`, a flock, on DIRECTORY/journal.lock, in lock_journal();
 * its waker is unlock_journal() in `holder`. The file is removed.
 */
#include "roles.h"
#include <sys/file.h>

enum { HOLD_MS = 600 };

static const char *path;

/* Each opening of the file is an owner of its own. */
static OWN_FRAME int lock_journal(void)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || flock(fd, LOCK_EX))
		die(path);
	return fd;
}

static OWN_FRAME void unlock_journal(int fd)
{
	flock(fd, LOCK_UN);
}

static void wait_for_journal(void)
{
	lock_journal();
}

int main(int argc, char **argv)
{
	pid_t waiter;
	int fd;

	role_name_self("holder");
	path = path_in(argc > 1 ? argv[1] : ".", "journal.lock");
	fd = lock_journal();
	waiter = role_fork("waiter", wait_for_journal);
	await_blocked(waiter, SYS_flock);
	compute_ms(HOLD_MS);
	unlock_journal(fd);
	role_wait(waiter);
	unlink(path);
	return 0;
}
