// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cold_mapping [DIRECTORY]			(.)
 * Planted bottleneck: for one second, the thread `mapper` (main) touches one page after the other
 * of a mapped file of 8 MiB, none of which is in memory. On a tmpfs nothing can block.
 * Known answer: the heaviest wait is `page-fault`, in touch_pages(), on DIRECTORY/cold.data, and
 * what ends it is the disk. Making the file, in make_file(), comes before and waits in fsync(). The
 * file is removed.
 */
#include "roles.h"
#include <sys/mman.h>

enum { PAGE_SIZE = 4096, PAGES = 2048, LENGTH_MS = 1000 };

static uint64_t end_ns;
static volatile unsigned sink;

/* The number of the page comes from a linear congruential sequence, which reaches them all. */
static OWN_FRAME void touch_pages(const volatile unsigned char *map)
{
	unsigned page = 0;

	for (int i = 0; i < PAGES && now_ns() < end_ns; i++) {
		sink += map[(size_t)page * PAGE_SIZE];
		page = (page * 1229 + 3571) % PAGES;
	}
}

static OWN_FRAME void make_file(int fd)
{
	char page[PAGE_SIZE];

	memset(page, 'c', sizeof(page));
	for (int i = 0; i < PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			die("write");
	if (fsync(fd))
		die("fsync");
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "cold.data");
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	size_t size = (size_t)PAGES * PAGE_SIZE;

	role_name_self("mapper");
	if (fd < 0)
		die(path);
	make_file(fd);
	end_ns = now_ns() + LENGTH_MS * 1000000ull;
	while (now_ns() < end_ns) {
		void *map;

		/* Only pages that are clean and not mapped are dropped. */
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			die("mmap");
		madvise(map, size, MADV_RANDOM); /* no read-ahead, no faults around */
		touch_pages(map);
		munmap(map, size);
	}
	close(fd);
	unlink(path);
	return 0;
}
