// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a file of 256 MB again and again, past the page cache, as `neighbour`. It is traced by nobody: other programs
 * want the same disk.
 */
#include "planted.h"

enum { BLOCK_BYTES = 1 << 20, BLOCKS = 256 };

static OWN_FRAME void fill_disk(int fd)
{
	void *block;

	if (posix_memalign(&block, 4096, BLOCK_BYTES))
		die("posix_memalign");
	memset(block, 'f', BLOCK_BYTES);
	for (unsigned at = 0;; at++) {
		if (pwrite(fd, block, BLOCK_BYTES, (off_t)(at % BLOCKS) * BLOCK_BYTES) != BLOCK_BYTES)
			die("filled.dat");
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	char name[32];
	int fd;

	planted_open(argc, argv);
	role_name_self("neighbour");
	snprintf(name, sizeof(name), "filled-%d.dat", getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_DIRECT, 0644);
	if (fd < 0)
		die(name);
	fill_disk(fd);
}
