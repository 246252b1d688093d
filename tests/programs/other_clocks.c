// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * other_clocks.so: a library for LD_PRELOAD. Some two seconds after the process began, the wall clock is set back by an
 * hour, and the machine has been suspended for five seconds, as far as the process can see: the clock that
 * counts them is that much further than the one that does not.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static struct timespec began;
	struct timespec running;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &running);
	if (!began.tv_sec)
		began = running;
	if (syscall(SYS_clock_gettime, clock, now))
		return -1;
	if (running.tv_sec - began.tv_sec < 2)
		return 0;
	if (clock == CLOCK_REALTIME)
		now->tv_sec -= 3600;
	else if (clock == CLOCK_BOOTTIME)
		now->tv_sec += 5;
	return 0;
}
