// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: between barriers, only the threads listed in `phases` compute; in the longest
 * phase that is the thread `serial` alone.
 * Known answer: serial_work(), in the thread `serial`, leads by far; the waits are `barrier`. By
 * construction the CMetrics are about serial 1.2 s, par-1 0.5 s, par-0 0.4 s, par-2 0.3 s, main 0.
 *
 * Every thread notes when it comes to each barrier. The last one to come releases the others, so
 * in each phase a thread is active from the last arrival at the barrier before it to its own
 * arrival at the next, and n(t) is known. From that the program works out the shares of this run
 * and prints them as one JSON line: per thread its active time and its CMetric (waiting for a CPU
 * included in both), per phase its begin and length, all in ns of CLOCK_MONOTONIC, the clock of
 * the trace. Only the start of the threads, before the first barrier, is left out. Never more than
 * two threads compute at once.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, PHASES = 4 };

static const char *const names[THREADS] = { "serial", "par-0", "par-1", "par-2" };

static const struct {
	uint64_t length_ns;
	uint32_t who; /* bit i: thread i computes */
} phases[PHASES] = {
	{ 1000000000, 1 << 0 },
	{ 400000000, 1 << 0 | 1 << 1 },
	{ 600000000, 1 << 2 | 1 << 3 },
	{ 400000000, 1 << 1 | 1 << 2 },
};

static pthread_barrier_t barrier;
static uint64_t arrived_ns[THREADS][PHASES + 1]; /* row i is written by thread i only */
static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static inline void compute(uint64_t end_ns)
{
	uint64_t x = end_ns;

	do {
		for (int i = 0; i < 5000; i++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
	} while (now_ns() < end_ns);
	sink = x;
}

static __attribute__((noinline)) void serial_work(uint64_t end_ns)
{
	compute(end_ns);
	sink++; /* no tail call: this frame must be on the stack */
}

static __attribute__((noinline)) void parallel_work(uint64_t end_ns)
{
	compute(end_ns);
	sink++;
}

static void arrive(int id, int phase)
{
	arrived_ns[id][phase] = now_ns();
	pthread_barrier_wait(&barrier);
}

static void *run(void *data)
{
	int id = (int)(intptr_t)data;

	pthread_setname_np(pthread_self(), names[id]);
	for (int phase = 0; phase < PHASES; phase++) {
		arrive(id, phase);
		if (!(phases[phase].who & 1 << id))
			continue;
		if (id == 0)
			serial_work(now_ns() + phases[phase].length_ns);
		else
			parallel_work(now_ns() + phases[phase].length_ns);
	}
	arrive(id, PHASES);
	return NULL;
}

static uint64_t release_ns(int phase)
{
	uint64_t last_ns = 0;

	for (int i = 0; i < THREADS; i++)
		if (arrived_ns[i][phase] > last_ns)
			last_ns = arrived_ns[i][phase];
	return last_ns;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All threads are active at the release; each arrival at the next barrier takes one away. */
static void add_cmetric(int phase, double cmetric_ns[THREADS])
{
	uint64_t ends_ns[THREADS], begin_ns = release_ns(phase);

	for (int i = 0; i < THREADS; i++)
		ends_ns[i] = arrived_ns[i][phase + 1];
	qsort(ends_ns, THREADS, sizeof(ends_ns[0]), compare_times);
	for (int gone = 0; gone < THREADS; gone++) {
		for (int i = 0; i < THREADS; i++)
			if (arrived_ns[i][phase + 1] >= ends_ns[gone])
				cmetric_ns[i] += (double)(ends_ns[gone] - begin_ns) / (THREADS - gone);
		begin_ns = ends_ns[gone];
	}
}

static void print_expected(void)
{
	double cmetric_ns[THREADS] = { 0 };

	printf("{\"phases\":[");
	for (int phase = 0; phase < PHASES; phase++) {
		uint64_t begin_ns = release_ns(phase);
		int count = 0;

		add_cmetric(phase, cmetric_ns);
		printf("%s{\"begin_ns\":%llu,\"length_ns\":%llu,\"threads\":[", phase ? "," : "",
		       (unsigned long long)begin_ns, (unsigned long long)(release_ns(phase + 1) - begin_ns));
		for (int i = 0; i < THREADS; i++)
			if (phases[phase].who & 1 << i)
				printf("%s\"%s\"", count++ ? "," : "", names[i]);
		printf("]}");
	}
	printf("],\"threads\":[");
	for (int i = 0; i < THREADS; i++) {
		uint64_t active_ns = 0;

		for (int phase = 0; phase < PHASES; phase++)
			active_ns += arrived_ns[i][phase + 1] - release_ns(phase);
		printf("%s{\"name\":\"%s\",\"active_ns\":%llu,\"cmetric_ns\":%.0f}", i ? "," : "", names[i],
		       (unsigned long long)active_ns, cmetric_ns[i]);
	}
	printf("]}\n");
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i)) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print_expected();
	return 0;
}
