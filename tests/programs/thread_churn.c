// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thread_churn [COUNT]			(40000)
 * Edge: main makes and joins COUNT threads one after another, each computing for a few
 * microseconds, while the thread `steady` computes all along: births and deaths fall in the middle
 * of its slices, and where COUNT exceeds /proc/sys/kernel/pid_max, thread ids are used again.
 * Known answer: steady_work(), in the thread `steady`, leads. Prints how many ids came twice.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TID_MAX = 1 << 22, BRIEF_LOOPS = 3000, STEADY_LOOPS = 20000 };

static atomic_int is_over;
static uint8_t is_seen[TID_MAX]; /* by main and the one brief thread, never both at once */
static int reused_count;         /* likewise */
static volatile uint64_t brief_sink, steady_sink;

static inline uint64_t spin(uint64_t x, int loops)
{
	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static __attribute__((noinline)) void steady_work(void)
{
	steady_sink = spin(steady_sink, STEADY_LOOPS);
}

static __attribute__((noinline)) void brief_work(void)
{
	brief_sink = spin(brief_sink, BRIEF_LOOPS);
}

static void *run_steady(void *data)
{
	/* When it must share a CPU, each birth would else wait for the end of a time slice. */
	setpriority(PRIO_PROCESS, gettid(), 19);
	while (!atomic_load(&is_over)) {
		steady_work();
		sched_yield();
	}
	return data;
}

static void *run_brief(void *data)
{
	uint8_t *seen = &is_seen[gettid() % TID_MAX];

	reused_count += *seen;
	*seen = 1;
	brief_work();
	return data;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, run, NULL);

	if (err) {
		fprintf(stderr, "pthread_create: %s\n", strerror(err));
		exit(1);
	}
	return thread;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 40000;
	pthread_t steady = start(run_steady);

	pthread_setname_np(steady, "steady");
	for (int i = 0; i < count; i++)
		pthread_join(start(run_brief), NULL);
	atomic_store(&is_over, 1);
	pthread_join(steady, NULL);
	printf("%d threads, %d ids reused\n", count, reused_count);
	return 0;
}
