// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: a thousand children, at most 64 alive, each of which computes for some milliseconds and
 * exits with status 3; the program itself exits with status 7.
 * Known answer: child_work() leads; main waits as `child`; the report counts 1001 threads, and the
 * status handed on is 7.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 1000, ALIVE_MAX = 64, LOOPS = 3500000, CHILD_STATUS = 3, STATUS = 7 };

static __attribute__((noinline)) uint64_t child_work(uint64_t x)
{
	for (int i = 0; i < LOOPS; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static void reap(void)
{
	int status;

	if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS) {
		fprintf(stderr, "a child did not exit with status %d\n", CHILD_STATUS);
		exit(1);
	}
}

int main(void)
{
	volatile uint64_t sink;
	int alive = 0;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid;

		if (alive == ALIVE_MAX) {
			reap();
			alive--;
		}
		pid = fork();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid) {
			sink = child_work(i);
			(void)sink;
			_exit(CHILD_STATUS);
		}
		alive++;
	}
	while (alive--)
		reap();
	return STATUS;
}
