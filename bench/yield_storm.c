// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * yield_storm [THREADS [YIELDS [DEPTH]]]		(16, 400000, 8)
 * For measuring what a context switch costs: THREADS threads compute for about 3 us and yield,
 * YIELDS times in total, under DEPTH calls with a frame each (-1: one less than with 0). No thread ever blocks, so all of
 * them are active at every switch: with --nmin 1 no slice is critical, with --nmin THREADS each is.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 1024, DEPTH_MAX = 1000, LOOPS = 3000 };

static pthread_barrier_t everybody;
static long yields_each;
static int depth;

static __attribute__((noinline)) uint64_t storm(uint64_t x)
{
	for (long i = 0; i < yields_each; i++) {
		for (int j = 0; j < LOOPS; j++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
		sched_yield();
	}
	return x;
}

static __attribute__((noinline)) uint64_t descend(int levels, uint64_t x)
{
	x = levels > 0 ? descend(levels - 1, x) : storm(x);
	__asm__ volatile("" : "+r"(x)); /* or the compiler makes a loop of it */
	return x;
}

static void *run(void *data)
{
	uint64_t *result = data;

	pthread_barrier_wait(&everybody);
	*result = depth < 0 ? storm(*result) : descend(depth, *result);
	return NULL;
}

int main(int argc, char **argv)
{
	static uint64_t results[THREADS_MAX][8]; /* a cache line each */
	int thread_count = argc > 1 ? atoi(argv[1]) : 16;
	long yields = argc > 2 ? atol(argv[2]) : 400000;
	pthread_t threads[THREADS_MAX];

	depth = argc > 3 ? atoi(argv[3]) : 8;
	if (thread_count < 1 || thread_count > THREADS_MAX || yields < 0 || depth < -1 || depth > DEPTH_MAX) {
		fprintf(stderr, "usage: yield_storm [THREADS [YIELDS [DEPTH]]]\n");
		return 2;
	}
	yields_each = yields / thread_count;
	pthread_barrier_init(&everybody, NULL, thread_count);
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run, results[i])) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
