/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/area_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "helper/close_file.h"
#include "helper/held_files.h"
#include "helper/maps_file.h"
#include "helper/open_file.h"

enum { AREAS_MAX = 16 };

struct search {
	struct {
		uint64_t start, end, device, inode;
	} found[AREAS_MAX];
	uint32_t count;
};

/* A file is mapped twice: as a whole, and its switches once more. */
static void on_mapping(void *data, const struct file_mapping *mapping)
{
	struct search *search = data;

	for (uint32_t i = 0; i < search->count; i++)
		if (search->found[i].device == mapping->device && search->found[i].inode == mapping->inode)
			return;
	if (search->count == AREAS_MAX)
		return;
	search->found[search->count].start = mapping->start;
	search->found[search->count].end = mapping->end;
	search->found[search->count].device = mapping->device;
	search->found[search->count++].inode = mapping->inode;
}

/* A process that has ended has none. */
static bool has_maps(uint32_t pid)
{
	char path[32];
	bool has_any;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	has_any = file && getc(file) != EOF;
	if (file)
		fclose(file);
	return has_any;
}

int area_file_open(uint32_t pid, uint32_t number)
{
	struct search search = { .count = 0 };
	char link[64];
	int fd = maps_file_read_areas(pid, on_mapping, &search);

	if (fd == -ENOENT) /* it has ended */
		return -ESRCH;
	if (fd && fd != -E2BIG && fd != -ESRCH)
		return fd;
	if (number >= search.count)
		return has_maps(pid) ? -ENOENT : -ESRCH;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)search.found[number].start, (unsigned long long)search.found[number].end);
	fd = file_open(link);
	if (fd == -ENOENT) /* meanwhile */
		return -ESRCH;
	if (fd >= 0 && !held_file_is_local(fd, pid)) {
		file_close(fd);
		fd = -EXDEV;
	}
	return fd;
}
