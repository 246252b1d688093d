/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "area/header.h"
#include "area/local.h"
#include "area/maps.h"

struct search {
	uint32_t pid;
	uint32_t own_pid; /* as the process itself has it; 0: unknown */
	bool is_writable;
	void (*on_area)(void *data, const struct area_found *found);
	void *data;
	int count, err;
};

/* The process's id in its own PID namespace, the last of NSpid; 0: there is no such process. */
static uint32_t own_pid(uint32_t pid)
{
	char path[32], status[4096];
	const char *line, *end;
	size_t count;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	count = fread(status, 1, sizeof(status) - 1, file);
	fclose(file);
	status[count] = '\0';
	line = strstr(status, "\nNSpid:");
	end = line ? strchr(line + 1, '\n') : NULL;
	if (!end)
		return 0;
	while (end[-1] >= '0' && end[-1] <= '9')
		end--;
	return strtoul(end, NULL, 10);
}

static bool is_that_file(int fd, const struct area_mapping *mapping)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_dev == mapping->device &&
	       status.st_ino == mapping->inode;
}

/* The file that is mapped; by its path, where the kernel lets only root have it from the mapping. */
static int open_mapped(const struct search *search, const struct area_mapping *mapping)
{
	int flags = (search->is_writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, fd, err;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", search->pid, (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	fd = open(link, flags);
	if (fd >= 0)
		return fd;
	err = -errno;
	fd = open(mapping->path, flags | O_NOFOLLOW);
	if (fd < 0)
		return err;
	if (is_that_file(fd, mapping))
		return fd;
	close(fd);
	return err;
}

static void on_mapping(void *data, const struct area_mapping *mapping)
{
	struct search *search = data;
	struct area_found found = { .device = mapping->device, .inode = mapping->inode, .path = mapping->path };
	struct pinchtrace_header header;

	if (!area_device_is_local(search->pid, mapping->device)) {
		search->err = -EXDEV;
		return;
	}
	found.fd = open_mapped(search, mapping);
	if (found.fd < 0) {
		search->err = found.fd;
		return;
	}
	if (area_header_read(found.fd, &header) || header.pid != search->own_pid) {
		close(found.fd);
		return;
	}
	search->count++;
	search->on_area(search->data, &found);
}

int area_find(uint32_t pid, bool is_writable, void (*on_area)(void *data, const struct area_found *found), void *data)
{
	struct search search = { pid, own_pid(pid), is_writable, on_area, data, 0, 0 };
	int err = area_maps_read(pid, on_mapping, &search);

	if (search.count)
		return search.count;
	if (err && err != -ESRCH)
		return err;
	return search.err ? search.err : -ENOENT;
}

struct mapped {
	void (*on_file)(void *data, uint64_t device, uint64_t inode);
	void *data;
};

static void on_any_mapping(void *data, const struct area_mapping *mapping)
{
	const struct mapped *mapped = data;

	mapped->on_file(mapped->data, mapping->device, mapping->inode);
}

void area_find_mapped(uint32_t pid, void (*on_file)(void *data, uint64_t device, uint64_t inode), void *data)
{
	struct mapped mapped = { on_file, data };

	area_maps_read(pid, on_any_mapping, &mapped);
}
