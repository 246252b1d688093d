// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_mmap [THREADS [LENGTH_MS]]			(8 1000)
 * Planted contention: the threads `mapper-0` and so on of one process map memory, touch it and unmap
 * it. The first touch of a mapping is a page fault that needs the whole address space, because the
 * mapping has no anon_vma yet.
 * Known answer: `mmap_lock` of the process, which writers wait for in map_pages() and unmap_pages(),
 * and readers in touch_pages().
 */
#include "klock.h"
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, PAGES = 64 };

static OWN_FRAME volatile char *map_pages(void)
{
	void *map = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

static OWN_FRAME void touch_pages(volatile char *map)
{
	for (int i = 0; i < PAGES; i++)
		map[(size_t)i * PAGE_BYTES] = 1;
}

static OWN_FRAME void unmap_pages(volatile char *map)
{
	if (munmap((void *)map, PAGES * PAGE_BYTES))
		die("munmap");
}

static void turn(int number)
{
	volatile char *map = map_pages();

	(void)number;
	touch_pages(map);
	unmap_pages(map);
}

int main(int argc, char **argv)
{
	crew_init(argc, argv, 1);
	crew_run("mapper-%d", turn);
	crew_emit("mmap_lock", NULL);
	return 0;
}
