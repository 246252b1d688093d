// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * direct_read FILE
 * Two threads: `reader` reads READS blocks of a file past the page cache, one after the other, from its
 * beginning on; `sleeper` sleeps SLEEPS times.
 * Known answer: requests to read all these bytes, which `reader` has issued and whose end wakes it; a
 * timer wakes `sleeper`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { READS = 100, BLOCK_BYTES = 64 << 10, SLEEPS = 50, ALIGNMENT = 4096 };

static void *sleep_often(void *data)
{
	struct timespec time = { .tv_nsec = 1000000 };

	pthread_setname_np(pthread_self(), "sleeper");
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&time, NULL);
	return data;
}

static void *read_all(void *data)
{
	int *fd = data;
	void *block;

	pthread_setname_np(pthread_self(), "reader");
	if (posix_memalign(&block, ALIGNMENT, BLOCK_BYTES))
		exit(1);
	for (int i = 0; i < READS; i++)
		if (pread(*fd, block, BLOCK_BYTES, (off_t)i * BLOCK_BYTES) != BLOCK_BYTES) {
			perror("pread");
			exit(1);
		}
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	pthread_t reader, sleeper;

	if (fd < 0) {
		perror("open");
		return 1;
	}
	pthread_create(&reader, NULL, read_all, &fd);
	pthread_create(&sleeper, NULL, sleep_often, NULL);
	pthread_join(reader, NULL);
	pthread_join(sleeper, NULL);
	return 0;
}
