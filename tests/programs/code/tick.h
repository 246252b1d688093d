// SPDX-License-Identifier: GPL-2.0-or-later
/* When the kernel's tick comes, as CLOCK_MONOTONIC_COARSE tells it, which changes at ticks only. */
#pragma once

#include "code_log.h"

/* Some tick, and how far they are apart. Set by tick_find(), before threads are started. */
static uint64_t tick_some_ns, tick_period_ns;

static inline uint64_t coarse_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* The ticks of all CPUs come at the same moments, whole periods of CLOCK_MONOTONIC apart. */
static OWN_FRAME void tick_find(void)
{
	struct timespec resolution;
	uint64_t before = coarse_ns();

	while (coarse_ns() == before)
		;
	tick_some_ns = now_ns();
	clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
	tick_period_ns = resolution.tv_nsec;
}

static inline uint64_t tick_last_ns(void)
{
	return tick_some_ns + (now_ns() - tick_some_ns) / tick_period_ns * tick_period_ns;
}

static inline void sleep_until(uint64_t time_ns)
{
	struct timespec time = { time_ns / 1000000000, time_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* A function that computes until then. */
#define WORK_UNTIL(name, number)                     \
	static OWN_FRAME void name(uint64_t end_ns)  \
	{                                            \
		log_enter(number);                   \
		while (now_ns() < end_ns)            \
			BURN_US(5);                  \
		log_leave();                         \
		__asm__ volatile("" : : : "memory"); \
	}
