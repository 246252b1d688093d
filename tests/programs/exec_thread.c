// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: a thread that is not main calls execv() of this same program, while main and another thread
 * are blocked. They die, the caller takes the process's id, and the program goes on with two
 * threads, main and `after`.
 * Known answer: after_exec(), in the thread `after`, leads with 1.5 s alone; before_exec(), in the
 * thread `before`, has 0.5 s. The main thread of both lives is blocked in its join.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static inline void compute(uint64_t length_ns)
{
	uint64_t end_ns = now_ns() + length_ns;

	while (now_ns() < end_ns)
		for (int i = 0; i < 5000; i++)
			sink = sink * 6364136223846793005ull + 1442695040888963407ull;
}

static __attribute__((noinline)) void before_exec(void)
{
	compute(500000000);
	sink++; /* no tail call: this frame must be on the stack */
}

static __attribute__((noinline)) void after_exec(void)
{
	compute(1500000000);
	sink++;
}

static void *run_idle(void *data)
{
	pause();
	return data;
}

/* By its path rather than /proc/self/exe, which would name the new program `exe`. */
static void *run_before(void *data)
{
	static char path[4096];
	char *const arguments[] = { path, "after", NULL };

	before_exec();
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		execv(path, arguments);
	perror("execv");
	exit(1);
	return data;
}

static void *run_after(void *data)
{
	after_exec();
	return data;
}

static pthread_t start(const char *name, void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL)) {
		perror("pthread_create");
		exit(1);
	}
	pthread_setname_np(thread, name);
	return thread;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		pthread_join(start("after", run_after), NULL);
		printf("done after exec\n");
		return 0;
	}
	start("idle", run_idle);
	pthread_join(start("before", run_before), NULL);
	return 1;
}
