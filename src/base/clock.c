/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* How much later clocks of this process's time namespace are than the machine's: any two's complement. */
static struct {
	uint64_t monotonic_ns, boottime_ns;
} shift;

/* The inode of the machine's own time namespace (PROC_TIME_INIT_INO). */
static const ino_t initial_namespace = 0xeffffffa;

/* Of a kernel without time namespaces nothing is found. */
static void read_shift(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;
	char clock[16];

	while (file && fscanf(file, "%15s %lld %lld", clock, &seconds, &ns) == 3)
		if (!strcmp(clock, "monotonic"))
			shift.monotonic_ns = seconds * 1000000000ull + ns;
		else if (!strcmp(clock, "boottime"))
			shift.boottime_ns = seconds * 1000000000ull + ns;
	if (file)
		fclose(file);
}

int clock_begin(void)
{
	struct stat own, next;

	/* What the kernel says is said of the namespace that children get: an unshare() makes it, and an exec or a fork enters it. */
	if (stat("/proc/self/ns/time", &own) || own.st_ino == initial_namespace)
		return 0;
	if (stat("/proc/self/ns/time_for_children", &next) || own.st_ino != next.st_ino)
		return -ENOTSUP;
	read_shift();
	return 0;
}

int64_t clock_shift_ns(void)
{
	return (int64_t)shift.monotonic_ns;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC) - shift.monotonic_ns;
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
	uint64_t running_ns = clock_ns();

	return read_ns(CLOCK_BOOTTIME) - shift.boottime_ns - running_ns;
}
