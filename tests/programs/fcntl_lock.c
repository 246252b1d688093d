// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fcntl_lock [DIRECTORY]			(.)
 * Planted bottleneck: the process `holder` (the first) has a lock of fcntl() on a file and computes
 * for 600 ms when the process `waiter`, its child, wants it, too.
 * Known answer: the heaviest wait is `lock`, a file-lock, on DIRECTORY/ledger.lock, in
 * lock_ledger(); its waker is unlock_ledger() in `holder`. The file is removed.
 */
#include "roles.h"

enum { HOLD_MS = 600 };

static const char *path;
static int fd;

static void set_lock(short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLKW, &lock))
		die(path);
}

static OWN_FRAME void lock_ledger(void)
{
	set_lock(F_WRLCK);
}

static OWN_FRAME void unlock_ledger(void)
{
	set_lock(F_UNLCK);
}

int main(int argc, char **argv)
{
	pid_t waiter;

	role_name_self("holder");
	path = path_in(argc > 1 ? argv[1] : ".", "ledger.lock");
	fd = open(path, O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		die(path);
	lock_ledger();
	waiter = role_fork("waiter", lock_ledger);
	await_blocked(waiter, SYS_fcntl);
	compute_ms(HOLD_MS);
	unlock_ledger();
	role_wait(waiter);
	unlink(path);
	return 0;
}
