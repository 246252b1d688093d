// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * close_flush [DIRECTORY]			(.)
 * Planted bottleneck: for a second, the thread `saver` (main) writes a file of 8 MiB again, flushes
 * it with fsync() and closes it, over and over. On a tmpfs nothing can block.
 * Known answer: the heaviest wait is `file`, in fsync(), called from flush_file(), on
 * DIRECTORY/large.data. The file is removed.
 */
#include "roles.h"

enum { BLOCK_SIZE = 64 << 10, BLOCKS = 128, LENGTH_MS = 1000 };

static OWN_FRAME void write_file(int fd)
{
	static char block[BLOCK_SIZE];

	for (int i = 0; i < BLOCKS; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write");
}

static OWN_FRAME void flush_file(int fd)
{
	if (fsync(fd))
		die("fsync");
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "large.data");
	uint64_t end_ns = now_ns() + LENGTH_MS * 1000000ull;

	role_name_self("saver");
	while (now_ns() < end_ns) {
		/* Not truncated: to free its blocks may wait for the disk, too. */
		int fd = open(path, O_WRONLY | O_CREAT, 0644);

		if (fd < 0)
			die(path);
		write_file(fd);
		flush_file(fd);
		close(fd);
	}
	unlink(path);
	return 0;
}
