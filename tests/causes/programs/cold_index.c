// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads look up keys in a mapped file, index.dat, whose pages are not in memory: each look-up is
 * a page fault that reads from the disk. Cured: the pages stay in memory.
 * Known answer: index.dat, in look_up_key().
 */
#include "planted.h"

enum { THREADS = 2, PAGE_BYTES = 4096, PAGES = 16384, LOOKUPS = 512, HASH_US = 5 };

static int fd;
static volatile unsigned sink;

static OWN_FRAME void look_up_key(const volatile unsigned char *map, unsigned page)
{
	sink += map[(size_t)page * PAGE_BYTES];
}

static OWN_FRAME void hash_key(void)
{
	burn_us(HASH_US);
}

/* Drops what is in memory: only pages that are clean and not mapped can be. */
static OWN_FRAME const volatile unsigned char *map_index(void)
{
	const size_t size = (size_t)PAGES * PAGE_BYTES;
	void *map;

	if (!is_cured)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	madvise(map, size, MADV_RANDOM);
	return (const volatile unsigned char *)map;
}

static void run(int number)
{
	unsigned page = number * 7;

	for (;;) {
		const volatile unsigned char *map = map_index();

		for (int i = 0; i < LOOKUPS; i++) {
			page = (page * 1229 + 3571) % PAGES;
			hash_key();
			look_up_key(map, page);
			planted_done(1);
		}
		munmap((void *)map, (size_t)PAGES * PAGE_BYTES);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	fd = planted_file("index.dat", (size_t)PAGES * PAGE_BYTES);
	role_start_all(threads, THREADS, "query-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
