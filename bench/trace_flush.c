// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_flush [ROUNDS]
 * What a flush of 8,000 events takes, into PINCHTRACE_FILE (best /dev/null, and a file in memory): the quartiles and the
 * extremes of ROUNDS (default 200) of them. And what it does to another thread: the cost of a call of trace_event() there,
 * in loops of 1,000 calls, while nobody flushes and while this thread does so all the time.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pinchtrace.h"

enum { EVENTS = 8000, CALLS = 1000, LOOPS = 20000, ROUNDS_MAX = 100000 };

static double samples[ROUNDS_MAX];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *what, double *all, int count, double unit)
{
	qsort(all, count, sizeof(*all), by_size);
	printf("%-44s %9.2f %9.2f %9.2f %9.2f %9.2f\n", what, all[0] / unit, all[count / 4] / unit,
	       all[count / 2] / unit, all[3 * count / 4] / unit, all[count - 1] / unit);
}

static void measure_flush(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		double begun_ns;

		for (uint32_t at = 0; at < EVENTS; at++)
			trace_event(1, 2, at);
		begun_ns = now_ns();
		if (trace_flush() != EVENTS) {
			fprintf(stderr, "trace_flush: not all of it is flushed\n");
			exit(1);
		}
		samples[i] = now_ns() - begun_ns;
	}
	report("a flush of 8,000 events, us", samples, rounds, 1000);
}

struct other {
	double loops[LOOPS];
	bool has_ended;
};

static void *record(void *data)
{
	struct other *other = data;

	for (int i = 0; i < LOOPS; i++) {
		double begun_ns = now_ns();

		for (uint32_t at = 0; at < CALLS; at++)
			trace_event(1, 2, at);
		other->loops[i] = (now_ns() - begun_ns) / CALLS;
	}
	__atomic_store_n(&other->has_ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void measure_other(const char *what, bool flushes)
{
	static struct other other;
	pthread_t thread;

	other.has_ended = false;
	if (pthread_create(&thread, NULL, record, &other))
		exit(1);
	while (flushes && !__atomic_load_n(&other.has_ended, __ATOMIC_ACQUIRE))
		trace_flush();
	pthread_join(thread, NULL);
	report(what, other.loops, LOOPS, 1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;

	if (rounds < 1 || rounds > ROUNDS_MAX || !getenv("PINCHTRACE_FILE")) {
		fprintf(stderr, "usage: PINCHTRACE_FILE=FILE trace_flush [ROUNDS, 1 to %d]\n", ROUNDS_MAX);
		return 2;
	}
	printf("%-44s %9s %9s %9s %9s %9s\n", "", "min", "quarter", "median", "quarter", "max");
	measure_flush(rounds);
	measure_other("a call of another thread, ns", false);
	measure_other("the same while this one flushes, ns", true);
	return 0;
}
