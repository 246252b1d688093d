// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: the thread `chain` computes for 1.5 s in inner(), which is inlined into middle(), which is
 * inlined into outer(), the only one of the three with code of its own. On the same CPU main wakes all the
 * time, so that the thread's slices end where it computes.
 * Known answer: the samples are in inner(), shown with the frames middle() and outer() above it; a
 * tool without inlined frames can only say outer().
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { PAUSE_NS = 2000000 };

static volatile uint64_t sink;
static atomic_bool is_done;

static inline __attribute__((always_inline)) uint64_t inner(uint64_t x, int loops)
{
	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static inline __attribute__((always_inline)) uint64_t middle(uint64_t x, int loops)
{
	x = inner(x, loops);
	return x ^ x >> 29;
}

static __attribute__((noinline)) void outer(void)
{
	sink = middle(sink, 1000000);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void *run(void *data)
{
	uint64_t end_ns = now_ns() + 1500000000;

	while (now_ns() < end_ns)
		outer();
	is_done = true;
	return data;
}

static void stay_here(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
}

int main(void)
{
	pthread_t thread;

	stay_here();
	if (pthread_create(&thread, NULL, run, NULL)) {
		perror("pthread_create");
		return 1;
	}
	pthread_setname_np(thread, "chain");
	while (!is_done)
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	pthread_join(thread, NULL);
	return 0;
}
