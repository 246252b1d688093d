// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_pipe [THREADS [LENGTH_MS]]			(8 1000)
 * Planted contention: the threads `piper-0` and so on write to one pipe and read from it. Each reads
 * no more than it has written before, and the pipe has space for all: none waits for room or bytes.
 * Known answer: the mutex of the pipe, which they wait for in put_bytes() and take_bytes().
 */
#include "klock.h"

enum { PAGE_BYTES = 4096, PIECE_BYTES_MAX = 16 * PAGE_BYTES, ROOM_BYTES = 1 << 20 };

static int pipe_fds[2];
static ssize_t piece_bytes; /* whole pages: a pipe has space for so many of them */

static OWN_FRAME void put_bytes(const char *bytes)
{
	if (write(pipe_fds[1], bytes, piece_bytes) != piece_bytes)
		die("write");
}

static OWN_FRAME void take_bytes(char *bytes)
{
	if (read(pipe_fds[0], bytes, piece_bytes) != piece_bytes)
		die("read");
}

static void turn(int number)
{
	static __thread char bytes[PIECE_BYTES_MAX];

	(void)number;
	put_bytes(bytes);
	take_bytes(bytes);
}

int main(int argc, char **argv)
{
	crew_init(argc, argv, 1);
	if (pipe(pipe_fds) || fcntl(pipe_fds[1], F_SETPIPE_SZ, ROOM_BYTES) < 0)
		die("pipe");
	piece_bytes = ROOM_BYTES / crew.threads / PAGE_BYTES * PAGE_BYTES;
	if (piece_bytes > PIECE_BYTES_MAX)
		piece_bytes = PIECE_BYTES_MAX;
	crew_run("piper-%d", turn);
	crew_emit("pipe mutex", NULL);
	return 0;
}
