// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sample_depth THREADS DEPTH MS
 * Each thread computes for so long, so many calls deep: what a sample costs depends on the frames above it.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 1024, ROUNDS = 20000 };

static int depth, length_ms;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static __attribute__((noinline)) void compute(uint64_t end_ns)
{
	while (now_ns() < end_ns)
		for (int i = 0; i < ROUNDS; i++)
			__asm__ volatile("" : : "r"(i));
}

/* What follows the call keeps its frame. */
static __attribute__((noinline)) void descend(int left, uint64_t end_ns)
{
	if (left)
		descend(left - 1, end_ns);
	else
		compute(end_ns);
	__asm__ volatile("" : : : "memory");
}

static void *run(void *data)
{
	descend(depth, now_ns() + length_ms * 1000000ull);
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int count;

	if (argc != 4) {
		fprintf(stderr, "usage: %s THREADS DEPTH MS\n", argv[0]);
		return 2;
	}
	count = atoi(argv[1]);
	depth = atoi(argv[2]);
	length_ms = atoi(argv[3]);
	if (count < 1 || count > THREADS_MAX)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
