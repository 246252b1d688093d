// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fifo_pair [DIRECTORY]			(.)
 * Planted bottleneck: the process `reader` (the first) reads from a named pipe what the process
 * `writer`, its child, computes, ten times, 70 ms each.
 * Known answer: the heaviest wait is `pipe`, on DIRECTORY/items.fifo, in read_item(); its waker is
 * slow_writer() in `writer`, which leads. The pipe is removed.
 */
#include "roles.h"
#include <sys/stat.h>

enum { ITEMS = 10, ITEM_MS = 70 };

static const char *path;
static pid_t reader;

static int must_open(int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		die(path);
	return fd;
}

static OWN_FRAME void slow_writer(void)
{
	int fd = must_open(O_WRONLY);

	for (int i = 0; i < ITEMS; i++) {
		await_blocked(reader, SYS_read);
		compute_ms(ITEM_MS);
		write_byte(fd);
	}
}

static OWN_FRAME void read_item(int fd)
{
	read_byte(fd);
}

int main(int argc, char **argv)
{
	pid_t writer;
	int fd;

	role_name_self("reader");
	reader = getpid();
	path = path_in(argc > 1 ? argv[1] : ".", "items.fifo");
	unlink(path);
	if (mkfifo(path, 0600))
		die(path);
	writer = role_fork("writer", slow_writer);
	fd = must_open(O_RDONLY);
	for (int i = 0; i < ITEMS; i++)
		read_item(fd);
	role_wait(writer);
	unlink(path);
	return 0;
}
