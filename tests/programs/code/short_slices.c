// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads take turns of about 20 and 10 us and sleep in between. Known answer: long_turn() leads. Hardly
 * a slice has a sample in it.
 */
#include "code_log.h"

#include <limits.h>
#include <linux/futex.h>

enum { LONG_TURN, SHORT_TURN };

static const char *const names[] = { "long_turn", "short_turn", NULL };

static uint32_t turn; /* atomic: whose it is */

WORK(long_turn, LONG_TURN)
WORK(short_turn, SHORT_TURN)

static void turn_pass(uint32_t to)
{
	__atomic_store_n(&turn, to, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void turn_await(uint32_t mine)
{
	uint32_t now;

	while ((now = __atomic_load_n(&turn, __ATOMIC_SEQ_CST)) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

/* Both end after the same number of turns: the first one says when. */
static void run(int number)
{
	static uint32_t is_over; /* atomic */

	do {
		turn_await(number);
		if (number == 0) {
			long_turn(20);
			if (!log_is_time())
				__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
		} else {
			short_turn(10);
		}
		turn_pass(!number);
	} while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST));
}

int main(int argc, char **argv)
{
	struct role players[2];

	log_open(argc, argv, names);
	role_start_all(players, 2, "player-%d", run);
	role_join_all(players, 2);
	return 0;
}
