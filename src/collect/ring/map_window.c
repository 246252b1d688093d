/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/map_window.h"

#include <sys/mman.h>
#include <unistd.h>

const char *map_window_open(struct map_window *window, int map_fd, uint64_t offset, size_t size_bytes)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), before = offset % page_bytes;
	void *pages;

	window->size_bytes = (before + size_bytes + page_bytes - 1) & -page_bytes;
	pages = mmap(NULL, window->size_bytes, PROT_READ, MAP_SHARED, map_fd, (off_t)(offset - before));
	if (pages == MAP_FAILED)
		return NULL;
	window->pages = pages;
	return window->pages + before;
}

void map_window_close(const struct map_window *window)
{
	munmap(window->pages, window->size_bytes);
}
