// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: eight threads map, touch and unmap a buffer for each message: all of them need the address space.
 * Cured: eight processes, with address spaces of their own.
 * Known answer: the kernel's mmap_lock, in map_buffer() and unmap_buffer().
 */
#include "planted.h"

enum { WORKERS = 8, PAGE_BYTES = 4096, PAGES = 64 };

static OWN_FRAME volatile char *map_buffer(void)
{
	void *map = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return (volatile char *)map;
}

static OWN_FRAME void fill_buffer(volatile char *map)
{
	for (int i = 0; i < PAGES; i++)
		map[(size_t)i * PAGE_BYTES] = 1;
}

static OWN_FRAME void unmap_buffer(volatile char *map)
{
	if (munmap((void *)map, PAGES * PAGE_BYTES))
		die("munmap");
}

static void run(int number)
{
	for (number = 0;; number++) {
		volatile char *map = map_buffer();

		fill_buffer(map);
		unmap_buffer(map);
		planted_done(1);
	}
}

static void run_process(void)
{
	run(0);
}

int main(int argc, char **argv)
{
	struct role threads[WORKERS];
	pid_t pids[WORKERS];

	planted_open(argc, argv);
	if (!is_cured) {
		role_start_all(threads, WORKERS, "message-%d", run);
		role_join_all(threads, WORKERS);
	}
	for (int i = 0; i < WORKERS; i++)
		pids[i] = role_fork("message", run_process);
	for (int i = 0; i < WORKERS; i++)
		role_wait(pids[i]);
	return 0;
}
