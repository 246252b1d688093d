// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsync_io [DIRECTORY [OPERATIONS]]		(., 30000)
 * Planted bottleneck: four threads, `sync-0` to `sync-3`, append OPERATIONS blocks of 4 KiB in
 * total to a file each, with fdatasync() after every block. For measuring overhead: the work is
 * fixed.
 * Known answer: the heaviest wait is `file`, in fdatasync() called from append_block(), on the
 * four files DIRECTORY/fsync_io.PID.N alike. The files stay: to remove one may be to wait for the disk, too.
 * On a tmpfs nothing can block.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, BLOCK_SIZE = 4096 };

struct writer {
	pthread_t thread;
	char path[4096];
	int fd;
	long blocks;
};

static __attribute__((noinline)) void append_block(struct writer *writer, const char *block)
{
	if (write(writer->fd, block, BLOCK_SIZE) == BLOCK_SIZE && !fdatasync(writer->fd))
		return;
	perror(writer->path);
	exit(1);
}

static void *run(void *data)
{
	struct writer *writer = data;
	char block[BLOCK_SIZE];

	memset(block, 'x', sizeof(block));
	for (long i = 0; i < writer->blocks; i++)
		append_block(writer, block);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct writer writers[THREADS];
	const char *directory = argc > 1 ? argv[1] : ".";
	long operations = argc > 2 ? atol(argv[2]) : 30000;

	for (int i = 0; i < THREADS; i++) {
		struct writer *writer = &writers[i];
		char name[16];

		writer->blocks = operations / THREADS + (i < operations % THREADS);
		snprintf(writer->path, sizeof(writer->path), "%s/fsync_io.%d.%d", directory, getpid(), i);
		writer->fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (writer->fd < 0) {
			perror(writer->path);
			return 1;
		}
		snprintf(name, sizeof(name), "sync-%d", i);
		if (pthread_create(&writer->thread, NULL, run, writer)) {
			perror("pthread_create");
			return 1;
		}
		pthread_setname_np(writer->thread, name);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(writers[i].thread, NULL);
		close(writers[i].fd);
	}
	return 0;
}
