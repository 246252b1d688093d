/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said to programs. */
#include "collect/own/own_areas_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "area/area.h"
#include "area/control.h"

/* Who handed it over can write it; what was found by its mapping was opened for reading. */
static int change_area(const struct own_area *own, int (*change)(int fd, uint64_t value), uint64_t value)
{
	int fd = area_fd(own->area), err = change(fd, value);
	char path[64];

	if (err != -EBADF)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = change(fd, value);
	close(fd);
	return err;
}

static int start_area(int fd, uint64_t unused)
{
	(void)unused;
	return area_control_start(fd);
}

int own_areas_start(struct own_areas *areas, uint32_t pid)
{
	int err = -ENOENT;

	for (size_t i = 0; i < areas->count; i++)
		if (areas->list[i].pid == pid && !areas->list[i].is_ended && err)
			err = change_area(&areas->list[i], start_area, 0);
	return err;
}

void own_areas_promise(struct own_areas *areas, uint64_t until_ns)
{
	for (size_t i = 0; i < areas->count; i++)
		if (!areas->list[i].is_ended)
			change_area(&areas->list[i], area_control_scope, until_ns);
}
