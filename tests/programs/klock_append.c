// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_append [DIRECTORY [THREADS [LENGTH_MS]]]		(. 8 1000)
 * Planted contention: the threads `append-0` and so on append to one file all the time. Each has
 * opened it for itself, or they would wait for the position in the file that they share. Whoever
 * brings it past a multiple of 16 MiB empties it, so that the disk is not filled.
 * Known answer: `i_rwsem` of DIRECTORY/journal, which writers wait for in append_record(). The file
 * is removed.
 */
#include "klock.h"

enum { RECORD_BYTES = 16 << 10, FILE_BYTES_MAX = 16 << 20 };

static int fds[CREW_MAX];      /* entry i is of thread i */
static uint64_t written_bytes; /* atomic */

static OWN_FRAME void append_record(int fd)
{
	static const char record[RECORD_BYTES];

	if (write(fd, record, sizeof(record)) != sizeof(record))
		die("write");
}

static void turn(int number)
{
	append_record(fds[number]);
	if (__atomic_add_fetch(&written_bytes, RECORD_BYTES, __ATOMIC_RELAXED) % FILE_BYTES_MAX == 0 &&
	    ftruncate(fds[number], 0))
		die("ftruncate");
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "journal");

	crew_init(argc, argv, 2);
	for (int i = 0; i < crew.threads; i++) {
		fds[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
		if (fds[i] < 0)
			die(path);
	}
	crew_run("append-%d", turn);
	crew_emit("i_rwsem", path);
	unlink(path);
	return 0;
}
