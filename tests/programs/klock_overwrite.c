// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_overwrite [DIRECTORY [THREADS [LENGTH_MS]]]		(. 8 1000)
 * Planted contention: the threads `writer-0` and so on overwrite one block each of one file, over and
 * over. No two write to the same block, and the file does not grow.
 * Known answer: `i_rwsem` of DIRECTORY/shared.data, which writers wait for in overwrite_block(): a
 * write locks the whole file, and updates its time stamps. The file is removed.
 */
#include "klock.h"

enum { BLOCK_BYTES = 4096 };

static int fd;

static OWN_FRAME void overwrite_block(int number)
{
	static const char block[BLOCK_BYTES];

	if (pwrite(fd, block, sizeof(block), (off_t)number * BLOCK_BYTES) != sizeof(block))
		die("pwrite");
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "shared.data");

	crew_init(argc, argv, 2);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		die(path);
	for (int i = 0; i < crew.threads; i++)
		overwrite_block(i);
	crew_run("writer-%d", overwrite_block);
	crew_emit("i_rwsem", path);
	unlink(path);
	return 0;
}
