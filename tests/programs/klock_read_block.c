// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_read_block [DIRECTORY [THREADS [LENGTH_MS]]]		(. 8 1000)
 * Planted contention: the threads `reader-0` and so on read the same block of one file, over and over.
 * Known answer: by the file system. Where a read locks the file, as on XFS, they wait for `i_rwsem`
 * of DIRECTORY/shared.data only beside a writer; where it does not, as on ext4 and tmpfs, they share
 * the reference count of a page, which is no lock. The file is removed.
 */
#include "klock.h"

enum { BLOCK_BYTES = 4096 };

static int fd;

static OWN_FRAME void read_block(int number)
{
	char block[BLOCK_BYTES];

	(void)number;
	if (pread(fd, block, sizeof(block), 0) != sizeof(block))
		die("pread");
}

int main(int argc, char **argv)
{
	static const char block[BLOCK_BYTES];
	const char *path = path_in(argc > 1 ? argv[1] : ".", "shared.data");

	crew_init(argc, argv, 2);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		die(path);
	if (write(fd, block, sizeof(block)) != sizeof(block))
		die("write");
	crew_run("reader-%d", read_block);
	crew_tell("none", path);
	unlink(path);
	return 0;
}
