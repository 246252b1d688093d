// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `reader` (main) reads from a pipe what the thread `writer`
 * computes, ten times, 70 ms each.
 * Known answer: the heaviest wait is `pipe`, in read_item(); its waker is slow_writer() in
 * `writer`, which leads.
 */
#include "roles.h"

enum { ITEMS = 10, ITEM_MS = 70 };

static int ends[2];
static pid_t reader;

static OWN_FRAME void slow_writer(int number)
{
	(void)number;
	for (int i = 0; i < ITEMS; i++) {
		await_blocked(reader, SYS_read);
		compute_ms(ITEM_MS);
		write_byte(ends[1]);
	}
}

static OWN_FRAME void read_item(void)
{
	read_byte(ends[0]);
}

int main(void)
{
	struct role writer;

	role_name_self("reader");
	reader = gettid();
	if (pipe(ends))
		die("pipe");
	role_start(&writer, "writer", slow_writer, 0);
	for (int i = 0; i < ITEMS; i++)
		read_item();
	role_join_all(&writer, 1);
	return 0;
}
