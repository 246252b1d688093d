// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * first_steps [COUNT]			(20)
 * Edge: COUNT times, one after the other, starts itself as a new process, which waits in its first
 * moment, before a tracer can have examined what it has mapped; so does code that it loads then.
 * Built without frame pointers, as distributions build.
 * Known answer: each wait's call path leads through outer_step() to main(), the library's through
 * qsort(), and no frame of it is a guess.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline, noclone)) void wait_shortly(void)
{
	struct timespec time = { .tv_nsec = 2000000 };

	nanosleep(&time, NULL);
	sink++;
}

static __attribute__((noinline, noclone)) int compare(const void *a, const void *b)
{
	wait_shortly();
	return memcmp(a, b, sizeof(int));
}

/* Its room on the stack is not known to the compiler. */
static __attribute__((noinline, noclone)) void inner_step(int n)
{
	int array[n];

	memset(array, 0, sizeof(array));
	wait_shortly();
	qsort(array, 3, sizeof(*array), compare);
	sink += array[n / 2];
}

static __attribute__((noinline, noclone)) void outer_step(int n)
{
	inner_step(n);
	sink++;
}

static __attribute__((noinline, noclone)) void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	double (*call)(double) = library ? (double (*)(double))dlsym(library, "cos") : NULL;

	if (call)
		sink += call(sink);
	wait_shortly();
	sink++;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20;

	if (argc > 2) {
		outer_step(10 + atoi(argv[2]));
		load("libm.so.6");
		return 0;
	}
	for (int i = 0; i < count; i++) {
		char number[16];
		pid_t pid;

		snprintf(number, sizeof(number), "%d", i);
		pid = fork();
		if (!pid) {
			execl("/proc/self/exe", "first_steps", "0", number, (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
