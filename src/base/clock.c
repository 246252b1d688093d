/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

time_t clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

uint64_t clock_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_suspended_ns(void)
{
	uint64_t running_ns = read_ns(CLOCK_MONOTONIC);

	return read_ns(CLOCK_BOOTTIME) - running_ns;
}
