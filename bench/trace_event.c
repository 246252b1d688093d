// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_event [ROUNDS]
 * What a call of trace_event() costs, in a loop of 1,000 calls: TSC cycles and ns a call, the quartiles and the extremes of
 * ROUNDS (default 1,000) loops. Beside it the read of the clock alone, and the loop alone, which is in all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pinchtrace.h"

#ifndef __x86_64__
#error "it counts cycles of the time stamp counter"
#endif

enum { CALLS = 1000, ROUNDS_MAX = 100000 };

static double ns_per_cycle;

static uint64_t cycles(void)
{
	uint64_t now;

	__builtin_ia32_lfence();
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return now;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void calibrate(void)
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

static uint64_t run_nothing(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++)
		keep(i);
	return cycles() - begun;
}

static uint64_t run_clock(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++)
		keep(__builtin_ia32_rdtsc());
	return cycles() - begun;
}

static uint64_t run_event(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		trace_event(1, 2, i);
		keep(i);
	}
	return cycles() - begun;
}

static uint64_t run_payload(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		uint64_t payload[3] = { i, i, i };

		trace_event_payload(1, 2, i, payload, sizeof(payload));
		keep(i);
	}
	return cycles() - begun;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double report(const char *what, uint64_t (*run)(void), int rounds)
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
	return median * ns_per_cycle;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	double nothing_ns, clock_ns, enabled_ns, disabled_ns;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: trace_event [ROUNDS, 1 to %d]\n", ROUNDS_MAX);
		return 2;
	}
	calibrate();
	printf("%-28s %7s %7s   %7s %7s %7s %7s %8s\n", "of a call", "ns", "cycles", "min", "quarter", "median",
	       "quarter", "max");
	nothing_ns = report("the loop alone", run_nothing, rounds);
	clock_ns = report("rdtsc", run_clock, rounds);
	enabled_ns = report("trace_event, enabled", run_event, rounds);
	report("with a payload of 24 bytes", run_payload, rounds);
	trace_disable(1);
	disabled_ns = report("trace_event, disabled", run_event, rounds);
	trace_enable(1);
	trace_set_triggers(3, 3, TRACE_NO_EVENT, 0, 0, 0, TRACE_ONE_SHOT);
	report("waiting for a start event", run_event, rounds);
	printf("enabled: %.2f ns above the clock's read; disabled: %.2f ns above the loop\n", enabled_ns - clock_ns,
	       disabled_ns - nothing_ns);
	return 0;
}
