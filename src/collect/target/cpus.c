/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/target/cpus.h"

#include <sched.h>

unsigned int cpus_visit(void)
{
	unsigned int count = 0;
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* Another one may have taken it away meanwhile. */
		count += !sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(all), &all);
	return count;
}
