// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `poller` (main) polls a pipe for what the thread `writer`
 * computes, ten times, 70 ms each.
 * Known answer: the heaviest wait is `poll`, in poll_pipe(); its waker is slow_writer() in
 * `writer`, which leads.
 */
#include "roles.h"
#include <poll.h>

enum { ITEMS = 10, ITEM_MS = 70 };

static int ends[2];
static pid_t poller;

static OWN_FRAME void slow_writer(int number)
{
	(void)number;
	for (int i = 0; i < ITEMS; i++) {
		await_blocked(poller, ANY_CALL);
		compute_ms(ITEM_MS);
		write_byte(ends[1]);
	}
}

static OWN_FRAME void poll_pipe(void)
{
	struct pollfd readable = { .fd = ends[0], .events = POLLIN };

	if (poll(&readable, 1, -1) != 1)
		die("poll");
}

int main(void)
{
	struct role writer;

	role_name_self("poller");
	poller = gettid();
	if (pipe(ends))
		die("pipe");
	role_start(&writer, "writer", slow_writer, 0);
	for (int i = 0; i < ITEMS; i++) {
		poll_pipe();
		read_byte(ends[0]);
	}
	role_join_all(&writer, 1);
	return 0;
}
