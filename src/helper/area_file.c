/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/area_file.h"

#include <errno.h>
#include <stdio.h>

#include "area/maps.h"
#include "helper/close_file.h"
#include "helper/held_files.h"
#include "helper/open_file.h"

struct search {
	uint32_t number, count;
	uint64_t start, end; /* where the one with that number is mapped */
};

static void on_mapping(void *data, const struct area_mapping *mapping)
{
	struct search *search = data;

	if (search->count++ != search->number)
		return;
	search->start = mapping->start;
	search->end = mapping->end;
}

int area_file_open(uint32_t pid, uint32_t number)
{
	struct search search = { .number = number };
	int fd = area_maps_read(pid, on_mapping, &search);
	char link[64];

	if (fd == -ENOENT) /* it has ended */
		return -ESRCH;
	if (fd)
		return fd;
	if (number >= search.count)
		return -ENOENT;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)search.start,
		 (unsigned long long)search.end);
	fd = file_open(link);
	if (fd == -ENOENT) /* meanwhile */
		return -ESRCH;
	if (fd >= 0 && !held_file_is_local(fd, pid)) {
		file_close(fd);
		fd = -EXDEV;
	}
	return fd;
}
