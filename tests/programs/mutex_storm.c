// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mutex_storm [THREADS [OPERATIONS]]		(16, 100000)
 * Planted bottleneck: THREADS threads take one mutex OPERATIONS times in total, hold it for a
 * short spin (about 10 us), and spin half as long outside. For measuring overhead: the work is
 * fixed. Without the sched_yield() after the unlock, the thread that has the CPU takes the lock
 * again before the one it woke can run, for a whole time slice or not, as luck has it. With it,
 * nine of ten acquisitions wait, on every run: on 2 CPUs some 95 000 switches a second, half of
 * them waits.
 * Known answer: nearly all waiting is `lock`, on storm_mutex, in hammer(); inside() leads the
 * samples. Prints the switches that it took, as the kernel counted them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { THREADS_MAX = 1024, INSIDE_LOOPS = 10000, OUTSIDE_LOOPS = 5000 };

static pthread_mutex_t storm_mutex = PTHREAD_MUTEX_INITIALIZER;
static long operations_left;  /* owned by storm_mutex */
static uint64_t shared_state; /* owned by storm_mutex */

static inline uint64_t spin(uint64_t x, int loops)
{
	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static __attribute__((noinline)) void inside(void)
{
	shared_state = spin(shared_state, INSIDE_LOOPS);
}

static __attribute__((noinline)) uint64_t outside(uint64_t x)
{
	return spin(x, OUTSIDE_LOOPS);
}

static __attribute__((noinline)) void *hammer(void *data)
{
	uint64_t *state = data;
	int is_over;

	do {
		pthread_mutex_lock(&storm_mutex);
		is_over = operations_left <= 0;
		if (!is_over) {
			operations_left--;
			inside();
		}
		pthread_mutex_unlock(&storm_mutex);
		sched_yield();
		*state = outside(*state);
	} while (!is_over);
	return NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	static uint64_t states[THREADS_MAX][8]; /* a cache line each */
	int thread_count = argc > 1 ? atoi(argv[1]) : 16;
	double begin_s = now_s(), length_s;
	pthread_t threads[THREADS_MAX];
	struct rusage usage;

	operations_left = argc > 2 ? atol(argv[2]) : 100000;
	if (thread_count < 1 || thread_count > THREADS_MAX || operations_left < 0) {
		fprintf(stderr, "usage: mutex_storm [THREADS [OPERATIONS]]\n");
		return 2;
	}
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, hammer, states[i])) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	length_s = now_s() - begin_s;
	getrusage(RUSAGE_SELF, &usage);
	printf("%.3f s, %ld waits, %ld yields and preemptions, %.0f switches/s\n", length_s, usage.ru_nvcsw,
	       usage.ru_nivcsw, (usage.ru_nvcsw + usage.ru_nivcsw) / length_s);
	return 0;
}
