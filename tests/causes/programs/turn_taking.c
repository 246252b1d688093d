// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: three stages hand orders around by eventfds, one order at a time; check_credit() takes ten times as long
 * as the others. Cured: it does not.
 * Known answer: check_credit().
 */
#include "planted.h"

#include <sys/eventfd.h>

enum { STAGES = 3, SHORT_US = 100, LONG_US = 1000 };

static int turns[STAGES];

static void wait_turn(int number)
{
	uint64_t count;

	if (read(turns[number], &count, sizeof(count)) != sizeof(count))
		die("read");
}

static void give_turn(int number)
{
	uint64_t one = 1;

	if (write(turns[number], &one, sizeof(one)) != sizeof(one))
		die("write");
}

static OWN_FRAME void check_credit(void)
{
	burn_us(is_cured ? SHORT_US : LONG_US);
}

static OWN_FRAME void book_order(void)
{
	burn_us(SHORT_US);
}

static OWN_FRAME void print_order(void)
{
	burn_us(SHORT_US);
	planted_done(1);
}

static void run(int number)
{
	static void (*const stages[STAGES])(void) = { check_credit, book_order, print_order };

	for (;;) {
		wait_turn(number);
		stages[number]();
		give_turn((number + 1) % STAGES);
	}
}

int main(int argc, char **argv)
{
	struct role threads[STAGES];

	planted_open(argc, argv);
	for (int i = 0; i < STAGES; i++) {
		turns[i] = eventfd(i == 0, 0);
		if (turns[i] < 0)
			die("eventfd");
	}
	role_start_all(threads, STAGES, "stage-%d", run);
	role_join_all(threads, STAGES);
	return 0;
}
