// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_read_block [DIRECTORY [THREADS [LENGTH_MS [WRITERS | position]]]]		(. 8 1000 0)
 * Planted contention: the threads `reader-0` and so on read the same block of one file, over and over.
 * The first WRITERS of them write it.
 * Known answer: without writers none: what the readers share is the reference count of a page, which
 * is not a lock. With writers, where a read locks the file, as on XFS: `i_rwsem` of DIRECTORY/shared.data,
 * in read_block() and write_block(); where it does not, as on ext4 and tmpfs, two writers at
 * least wait for it, and no reader. With the word "position" all read from where the file is, which they set back
 * first, and wait for `f_pos_lock` of DIRECTORY/shared.data as it was opened, in read_here(). The file is removed.
 */
#include "klock.h"
#include <stdbool.h>

enum { BLOCK_BYTES = 4096 };

static int fd;
static long writers;
static bool shares_position;

static OWN_FRAME void read_block(void)
{
	char block[BLOCK_BYTES];

	if (pread(fd, block, sizeof(block), 0) != sizeof(block))
		die("pread");
}

static OWN_FRAME void write_block(void)
{
	static const char block[BLOCK_BYTES];

	if (pwrite(fd, block, sizeof(block), 0) != sizeof(block))
		die("pwrite");
}

/* Nothing is there if another one has just read. */
static OWN_FRAME void read_here(void)
{
	char block[BLOCK_BYTES];

	if (lseek(fd, 0, SEEK_SET) || read(fd, block, sizeof(block)) < 0)
		die("read");
}

static void turn(int number)
{
	if (shares_position)
		read_here();
	else if (number < writers)
		write_block();
	else
		read_block();
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "shared.data");

	crew_init(argc, argv, 2);
	shares_position = argc > 4 && !strcmp(argv[4], "position");
	writers = argc > 4 && !shares_position ? crew_number(argv[4], crew.threads) : 0;
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		die(path);
	write_block();
	crew_run("reader-%d", turn);
	crew_emit(shares_position ? "f_pos_lock" : writers ? "i_rwsem" : "none", path);
	unlink(path);
	return 0;
}
