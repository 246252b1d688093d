// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpu_limit FILE
 * Planted bottleneck: the process enters a cgroup, by its file cgroup.procs, and two threads, `busy-0`
 * and `busy-1`, compute for 1.5 s. The cgroup is limited to a fifth of a CPU, which whoever starts this
 * sees to.
 * Known answer: the threads are `throttled` most of the time, as long as the cgroup's cpu.stat says.
 */
#include "roles.h"

enum { THREADS = 2, LENGTH_MS = 1500 };

static OWN_FRAME void crunch(int number)
{
	(void)number;
	compute_ms(LENGTH_MS);
}

int main(int argc, char **argv)
{
	FILE *processes = fopen(argc > 1 ? argv[1] : "", "w");
	struct role threads[THREADS];

	if (!processes || fprintf(processes, "%d\n", getpid()) < 0 || fclose(processes))
		die("cgroup.procs");
	role_start_all(threads, THREADS, "busy-%d", crunch);
	role_join_all(threads, THREADS);
	return 0;
}
