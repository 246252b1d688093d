// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads compute; one of them goes on alone for as long again and ends the process from within.
 * Known answer: serial_tail() leads, in a slice that may begin long before it and ends in exit.
 */
#include "code_log.h"

enum { PARALLEL_PART, SERIAL_TAIL, THREADS = 2 };

static const char *const names[] = { "parallel_part", "serial_tail", NULL };

static uint64_t half_ns;

static OWN_FRAME void parallel_part(void)
{
	log_enter(PARALLEL_PART);
	while (now_ns() < half_ns)
		BURN_US(50);
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static OWN_FRAME void serial_tail(void)
{
	log_enter(SERIAL_TAIL);
	while (log_is_time())
		BURN_US(50);
	_exit(0);
}

static void run(int number)
{
	parallel_part();
	if (number)
		serial_tail();
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	log_open(argc, argv, names);
	half_ns = now_ns() + (log_deadline_ns - now_ns()) / 2;
	role_start_all(threads, THREADS, "half-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
