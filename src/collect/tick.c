/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/tick.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "collect/ring/percpu.h"

/* The coarse clock advances at each tick: its resolution is the tick's period. */
uint64_t tick_period_ns(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution))
		return 0;
	return resolution.tv_sec * 1000000000ull + resolution.tv_nsec;
}

/* A CPU of the kernel's list has no tick while it runs only one thread. */
static bool have_tickless_cpus(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/nohz_full", "re");
	bool have_some = false;
	int c;

	while (file && !have_some && (c = getc(file)) != EOF)
		have_some = c >= '0' && c <= '9';
	if (file)
		fclose(file);
	return have_some;
}

int tick_find(const struct btf *btf, struct tick_places *places)
{
	if (have_tickless_cpus())
		return -EBUSY;
	if (percpu_find(btf, "hrtimer_bases", &places->hrtimer_bases) &&
	    percpu_find(btf, "tick_cpu_sched", &places->tick_cpu_sched) &&
	    percpu_find(btf, "__irq_regs", &places->irq_regs))
		return 0;
	return -ENOENT;
}
