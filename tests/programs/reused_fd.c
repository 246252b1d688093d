// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reused_fd [DIRECTORY]			(.)
 * Edge: the thread `reader` (main) waits for 150 ms each, at one place in the code and by one
 * number of a descriptor, on four named pipes: first.fifo; second.fifo; gone.fifo, whose name is
 * deleted when it waits; and new.fifo, which was old.fifo when it was opened. The thread `feeder`
 * writes.
 * Known answer: four `pipe` waits in read_item(), of about equal length, distinguished by these names
 * (for the third one, perhaps marked as deleted), nothing on old.fifo; their waker is feed() in
 * `feeder`. The pipes are removed.
 */
#include "roles.h"
#include <sys/stat.h>

enum { WAIT_MS = 150 };

static int descriptor;
static int feeding; /* where `feeder` writes to */
static pid_t reader;

static OWN_FRAME void feed(int number)
{
	(void)number;
	await_blocked(reader, SYS_read);
	compute_ms(WAIT_MS);
	write_byte(feeding);
}

static OWN_FRAME void read_item(void)
{
	read_byte(descriptor);
}

/* Opens both ends, the one to read from always by the same number. */
static void open_pipe(const char *path)
{
	int fd;

	unlink(path);
	if (mkfifo(path, 0600))
		die(path);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	feeding = open(path, O_WRONLY);
	if (fd < 0 || feeding < 0 || fcntl(fd, F_SETFL, 0))
		die(path);
	if (!descriptor)
		descriptor = fd;
	if (fd != descriptor) {
		fprintf(stderr, "descriptor %d, not %d\n", fd, descriptor);
		exit(1);
	}
}

static void wait_once(void)
{
	struct role feeder;

	role_start(&feeder, "feeder", feed, 0);
	read_item();
	role_join_all(&feeder, 1);
	close(feeding);
	close(descriptor);
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : ".";
	const char *first = path_in(directory, "first.fifo");
	const char *second = path_in(directory, "second.fifo");
	const char *gone = path_in(directory, "gone.fifo");
	const char *before = path_in(directory, "old.fifo");
	const char *after = path_in(directory, "new.fifo");

	role_name_self("reader");
	reader = gettid();
	open_pipe(first);
	wait_once();
	open_pipe(second);
	wait_once();
	open_pipe(gone);
	unlink(gone);
	wait_once();
	open_pipe(before);
	if (rename(before, after))
		die(after);
	wait_once();
	unlink(first);
	unlink(second);
	unlink(after);
	return 0;
}
