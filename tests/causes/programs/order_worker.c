// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order_worker [CGROUP_PROCS]
 * Two threads compute, 2 ms an order. What holds them back comes from outside: a cgroup with a CPU quota, which the
 * process enters, or other processes that want the same CPUs.
 */
#include "planted.h"

enum { THREADS = 2, ORDER_US = 2000 };

static OWN_FRAME void handle_order(void)
{
	burn_us(ORDER_US);
}

static void run(int number)
{
	for (number = 0;; number++) {
		handle_order();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	if (argc > 1 && !is_cured) {
		FILE *processes = fopen(argv[1], "w");

		if (!processes || fprintf(processes, "%d\n", getpid()) < 0 || fclose(processes))
			die("cgroup.procs");
	}
	role_start_all(threads, THREADS, "orders-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
