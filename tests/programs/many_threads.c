// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_threads [THREADS]		(5000)
 * Edge: THREADS threads with small stacks, all alive at once, wait at a barrier for the last of
 * them; then each computes for about half a millisecond and exits.
 * Known answer: brief_work() leads; the heaviest wait is `barrier`; the report counts THREADS + 1.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 64 << 10, LOOPS = 600000 };

static pthread_barrier_t barrier;

static __attribute__((noinline)) uint64_t brief_work(uint64_t x)
{
	for (int i = 0; i < LOOPS; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static void *run(void *data)
{
	uint64_t *result = data;

	pthread_barrier_wait(&barrier);
	*result = brief_work(*result);
	return NULL;
}

int main(int argc, char **argv)
{
	int thread_count = argc > 1 ? atoi(argv[1]) : 5000;
	pthread_attr_t small;
	pthread_t *threads;
	uint64_t *results;

	if (thread_count < 1) {
		fprintf(stderr, "usage: many_threads [THREADS]\n");
		return 2;
	}
	threads = calloc(thread_count, sizeof(*threads));
	results = calloc(thread_count, sizeof(*results));
	if (!threads || !results)
		return 1;
	pthread_barrier_init(&barrier, NULL, thread_count);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	for (int i = 0; i < thread_count; i++) {
		int err = pthread_create(&threads[i], &small, run, &results[i]);

		if (err) {
			fprintf(stderr, "thread %d: %s\n", i, strerror(err));
			return 1;
		}
	}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(results);
	return 0;
}
