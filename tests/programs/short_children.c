// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: main starts twenty children one after another, by fork and exec of this same program; each
 * computes for 75 ms in child_hot() and is gone long before the report is made.
 * Known answer: child_hot(), with its name and line, leads with all but a little of the time; main
 * waits as `child`. Threads: 21.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A clock may jump where a machine is emulated: some work is always done. */
enum { CHILDREN = 20, LENGTH_NS = 75000000, TURNS_MIN = 1000 };

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static __attribute__((noinline)) void child_hot(void)
{
	uint64_t end_ns = now_ns() + LENGTH_NS;

	for (int turn = 0; turn < TURNS_MIN || now_ns() < end_ns; turn++)
		for (int i = 0; i < 5000; i++)
			sink = sink * 6364136223846793005ull + 1442695040888963407ull;
}

int main(int argc, char **argv)
{
	char path[4096] = ""; /* executing /proc/self/exe itself would name the children `exe` */

	(void)argv;
	if (argc > 1) {
		child_hot();
		return 0;
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) {
		perror("/proc/self/exe");
		return 1;
	}
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		int status;

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid) {
			execl(path, "short_children", "child", NULL);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "child %d failed\n", i);
			return 1;
		}
	}
	return 0;
}
