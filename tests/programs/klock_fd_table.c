// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_fd_table [THREADS [LENGTH_MS]]			(8 1000)
 * Planted contention: the threads `duper-0` and so on of one process duplicate a file descriptor and
 * close the copy.
 * Known answer: the spinlock `file_lock` of the table of descriptors, in open_copy() and
 * close_copy().
 */
#include "klock.h"

static int original;

static OWN_FRAME int open_copy(void)
{
	int fd = dup(original);

	if (fd < 0)
		die("dup");
	return fd;
}

static OWN_FRAME void close_copy(int fd)
{
	if (close(fd))
		die("close");
}

static void turn(int number)
{
	(void)number;
	close_copy(open_copy());
}

int main(int argc, char **argv)
{
	crew_init(argc, argv, 1);
	original = open("/dev/null", O_RDONLY);
	if (original < 0)
		die("/dev/null");
	crew_run("duper-%d", turn);
	crew_emit("file_lock", NULL);
	return 0;
}
