// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * catalog_reader CGROUP_PROCS [cured]
 * Planted cause: two threads read a catalogue of 96 MB again and again. The process enters a cgroup whose memory is
 * limited to much less, which whoever starts this sees to: the kernel frees pages that are wanted again at once.
 * Cured: it does not enter it.
 * Known answer: memory: reclaim because of the cgroup's limit; what is read again is catalog.dat.
 */
#include "planted.h"

enum { THREADS = 2, BLOCK_BYTES = 65536, BLOCKS = 1536, PRICE_US = 20 };

static int fd;

static OWN_FRAME void read_block(unsigned number, char *block)
{
	if (pread(fd, block, BLOCK_BYTES, (off_t)number * BLOCK_BYTES) != BLOCK_BYTES)
		die("catalog.dat");
}

static OWN_FRAME void price_block(void)
{
	burn_us(PRICE_US);
}

static void run(int number)
{
	char *block = malloc(BLOCK_BYTES);

	for (unsigned at = number * BLOCKS / THREADS;; at++) {
		read_block(at % BLOCKS, block);
		price_block();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	if (!is_cured) {
		FILE *processes = fopen(argc > 1 ? argv[1] : "", "w");

		if (!processes || fprintf(processes, "%d\n", getpid()) < 0 || fclose(processes))
			die("cgroup.procs");
	}
	fd = planted_file("catalog.dat", (size_t)BLOCKS * BLOCK_BYTES);
	role_start_all(threads, THREADS, "catalog-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
