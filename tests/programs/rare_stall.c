// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: two pairs of threads hand a byte to and fro, as fast as they can and from deep calls, so that most stacks are
 * left out. One of them, `server`, after a second of that sleeps once for 400 ms in slow_commit().
 * Known answer: one wait of 400 ms in slow_commit(), whatever was left out.
 */
#include "roles.h"

#include <stdbool.h>

enum { PAIRS = 2, BUSY_MS = 1000, STALL_MS = 400, DEPTH = 40 };

static int there[PAIRS][2], back[PAIRS][2];
static uint64_t stall_ns, end_ns;

static OWN_FRAME void slow_commit(void)
{
	sleep_ms(STALL_MS);
}

static OWN_FRAME void serve(int pair)
{
	static bool has_stalled;
	char byte;

	while (read(there[pair][0], &byte, 1) == 1) {
		if (!pair && !has_stalled && now_ns() > stall_ns) {
			has_stalled = true;
			slow_commit();
		}
		write_byte(back[pair][1]);
	}
}

static OWN_FRAME void ask(int pair)
{
	while (now_ns() < end_ns) {
		write_byte(there[pair][1]);
		read_byte(back[pair][0]);
	}
	close(there[pair][1]);
}

/* As deep as in a program in which stacks cost something. */
static OWN_FRAME void deep(void (*work)(int), int pair, int depth)
{
	if (depth)
		deep(work, pair, depth - 1);
	else
		work(pair);
	__asm__ volatile("");
}

static void serve_deep(int pair)
{
	deep(serve, pair, DEPTH);
}

static void ask_deep(int pair)
{
	deep(ask, pair, DEPTH);
}

int main(void)
{
	struct role servers[PAIRS], askers[PAIRS];

	stall_ns = now_ns() + BUSY_MS * 1000000ull;
	end_ns = stall_ns + (BUSY_MS + STALL_MS) * 1000000ull;
	for (int i = 0; i < PAIRS; i++) {
		if (pipe(there[i]) || pipe(back[i]))
			die("pipe");
		role_start(&servers[i], i ? "server-%d" : "server", serve_deep, i);
		role_start(&askers[i], "asker-%d", ask_deep, i);
	}
	role_join_all(askers, PAIRS);
	role_join_all(servers, PAIRS);
	return 0;
}
