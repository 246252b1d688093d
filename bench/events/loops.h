/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call costs, as the Barrelfish report measures it (section 5.3): a loop of 1,000 calls, many times. Prints, for each loop,
 * a name and cycles of the time stamp counter a call: minimum, quartiles and maximum, and the median in ns.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 1000, ROUNDS_MAX = 100000 };

static double ns_per_cycle;

static inline uint64_t cycles(void)
{
	uint64_t now;

	__builtin_ia32_lfence();
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return now;
}

static inline double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static inline void calibrate(void)
{
	double begun_ns = now_ns();
	uint64_t begun = cycles();

	while (now_ns() - begun_ns < 1e8)
		;
	ns_per_cycle = (now_ns() - begun_ns) / (cycles() - begun);
}

/* So that the compiler keeps each call of an empty loop. */
static inline void keep(uint64_t value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median in ns a call. */
static inline double report(const char *what, uint64_t (*run)(void), int rounds)
{
	static double all[ROUNDS_MAX];
	double median;

	run();
	for (int i = 0; i < rounds; i++)
		all[i] = (double)run() / CALLS;
	qsort(all, rounds, sizeof(*all), by_size);
	median = all[rounds / 2];
	printf("%-28s %7.2f %7.2f   %7.2f %7.2f %7.2f %7.2f %8.2f\n", what, median * ns_per_cycle, median, all[0],
	       all[rounds / 4], median, all[3 * rounds / 4], all[rounds - 1]);
	fflush(stdout);
	return median * ns_per_cycle;
}

/* The rounds that the command line asks for; ends the program if that makes no sense. */
static inline int rounds_of(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;

	if (rounds >= 1 && rounds <= ROUNDS_MAX)
		return rounds;
	fprintf(stderr, "usage: %s [ROUNDS, 1 to %d]\n", argv[0], ROUNDS_MAX);
	exit(2);
}
