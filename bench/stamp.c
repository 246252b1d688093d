// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stamp FIFO COMMAND [ARG...]
 * Writes its process id and the time (CLOCK_MONOTONIC, ns) to FIFO, then becomes COMMAND: the
 * bench so learns when a command's first instruction runs and whom to wait for, without a
 * process between the tracer and the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec now;
	int fd;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (argc < 3) {
		fprintf(stderr, "usage: stamp FIFO COMMAND [ARG...]\n");
		return 2;
	}
	fd = open(argv[1], O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%d %lld\n", getpid(), now.tv_sec * 1000000000ll + now.tv_nsec) < 0) {
		perror(argv[1]);
		return 125;
	}
	close(fd);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return errno == ENOENT ? 127 : 126;
}
