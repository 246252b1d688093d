// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpu_bound [THREADS [MILLIONS]]		(2, 4000)
 * No bottleneck: THREADS threads share MILLIONS of loop iterations equally, compute and never
 * block. For measuring overhead: the work is fixed and does not depend on THREADS.
 * Known answer: crunch() leads; nothing waits but main, in its join.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 1024 };

static uint64_t loops_per_thread;
static uint64_t results[THREADS_MAX][8]; /* a cache line each */

static __attribute__((noinline)) uint64_t crunch(uint64_t x, uint64_t loops)
{
	while (loops--)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static void *run(void *data)
{
	uint64_t *result = data;

	*result = crunch(result - results[0], loops_per_thread);
	return NULL;
}

int main(int argc, char **argv)
{
	int thread_count = argc > 1 ? atoi(argv[1]) : 2;
	long millions = argc > 2 ? atol(argv[2]) : 4000;
	pthread_t threads[THREADS_MAX];
	uint64_t checksum = 0;

	if (thread_count < 1 || thread_count > THREADS_MAX || millions < 0) {
		fprintf(stderr, "usage: cpu_bound [THREADS [MILLIONS]]\n");
		return 2;
	}
	loops_per_thread = millions * 1000000ull / thread_count;
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run, results[i])) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < thread_count; i++) {
		pthread_join(threads[i], NULL);
		checksum ^= results[i][0];
	}
	printf("checksum %016llx\n", (unsigned long long)checksum);
	return 0;
}
