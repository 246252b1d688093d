// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_files [COUNT]			(100000)
 * Threads wait for so many pipes, each once, for 50 us by a limit of time, and close them.
 * Before all that, main waits in read_early() for a pipe, late_writer() in `writer` ends that after
 * 300 ms; and so does read_late() when all is over.
 * Known answer: waits for pipes that have no row of their own share the row `others`; both waits of
 * main are of cause `pipe`.
 */
#include "roles.h"
#include <poll.h>

enum { COUNT = 100000, THREADS = 16, LIMIT_NS = 50000, WRITE_MS = 300 };

static int count_each, ends[2];
static pid_t reader;

static OWN_FRAME void wait_for_pipes(int number)
{
	struct timespec limit = { 0, LIMIT_NS };

	(void)number;
	for (int i = 0; i < count_each; i++) {
		struct pollfd fd = { .events = POLLIN };
		int pair[2];

		if (pipe(pair))
			die("pipe");
		fd.fd = pair[0];
		ppoll(&fd, 1, &limit, NULL);
		close(pair[0]);
		close(pair[1]);
	}
}

static OWN_FRAME void late_writer(int number)
{
	(void)number;
	await_blocked(reader, SYS_read);
	compute_ms(WRITE_MS);
	write_byte(ends[1]);
}

static OWN_FRAME void read_early(void)
{
	read_byte(ends[0]);
}

static OWN_FRAME void read_late(void)
{
	read_byte(ends[0]);
}

static void read_slowly(void (*read_it)(void))
{
	struct role writer;

	if (pipe(ends))
		die("pipe");
	role_start(&writer, "writer", late_writer, 0);
	read_it();
	role_join_all(&writer, 1);
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	role_name_self("reader");
	reader = gettid();
	count_each = (argc > 1 ? atoi(argv[1]) : COUNT) / THREADS;
	read_slowly(read_early);
	role_start_all(threads, THREADS, "waiter-%d", wait_for_pipes);
	role_join_all(threads, THREADS);
	read_slowly(read_late);
	return 0;
}
