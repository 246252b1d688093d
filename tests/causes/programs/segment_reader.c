// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads read blocks at random places of segments.dat, past the page cache. Cured: from memory.
 * Known answer: reads of segments.dat, in read_segment().
 */
#include "planted.h"

enum { THREADS = 2, BLOCK_BYTES = 16384, BLOCKS = 8192, SCORE_US = 20 };

static int fd;

static OWN_FRAME void read_segment(unsigned block, void *buffer)
{
	if (pread(fd, buffer, BLOCK_BYTES, (off_t)block * BLOCK_BYTES) != BLOCK_BYTES)
		die("segments.dat");
}

static OWN_FRAME void score_segment(void)
{
	burn_us(SCORE_US);
}

static void run(int number)
{
	unsigned block = number * 11;
	void *buffer;

	if (posix_memalign(&buffer, 4096, BLOCK_BYTES))
		die("posix_memalign");
	for (;;) {
		block = (block * 1229 + 3571) % BLOCKS;
		read_segment(block, buffer);
		score_segment();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	fd = planted_file("segments.dat", (size_t)BLOCKS * BLOCK_BYTES);
	if (!is_cured && fcntl(fd, F_SETFL, O_DIRECT))
		die("O_DIRECT");
	role_start_all(threads, THREADS, "search-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
