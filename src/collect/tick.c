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

/*
 * Both go round in the longer one of the two: after n rounds they meet nearly as they did before. n different moments are
 * enough if there are many; of few, each has to move on to the next one within a second.
 */
static bool is_in_step(uint64_t period_ns, uint64_t tick_ns)
{
	enum { MOMENTS = 16, TICKS = 250 };
	uint64_t shorter_ns = period_ns < tick_ns ? period_ns : tick_ns, longer_ns = period_ns ^ tick_ns ^ shorter_ns;

	for (unsigned int n = 1; n <= MOMENTS; n++) {
		uint64_t past_ns = n * longer_ns % shorter_ns, before_ns = shorter_ns - past_ns;

		if ((past_ns < before_ns ? past_ns : before_ns) * TICKS < shorter_ns)
			return true;
	}
	return false;
}

uint64_t tick_pass_over(uint64_t period_ns, uint64_t tick_ns)
{
	enum { SHORTER_BY = 32, TRIES = 8 };

	if (!tick_ns || period_ns % tick_ns == 0)
		return period_ns;
	for (unsigned int i = 0; i < TRIES && is_in_step(period_ns, tick_ns); i++)
		period_ns -= period_ns / SHORTER_BY;
	return period_ns;
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
