/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/maps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "pinchtrace_format.h"

/* More than a process has by default: 65530. */
#define LINES_MAX 262144

struct seen {
	uint64_t device, inode;
};

/* "/dev/shm/pinchtrace.PID.NS", "/memfd:pinchtrace.PID.NS (deleted)". */
static bool take_path(char *path)
{
	static const char deleted[] = " (deleted)", memfd[] = "memfd:";
	const char *name = strrchr(path, '/');
	size_t length = strlen(path), tail = sizeof(deleted) - 1;

	if (!name++)
		return false;
	if (!strncmp(name, memfd, sizeof(memfd) - 1))
		name += sizeof(memfd) - 1;
	if (strncmp(name, PINCHTRACE_NAME, sizeof(PINCHTRACE_NAME) - 1))
		return false;
	if (length > tail && !strcmp(path + length - tail, deleted))
		path[length - tail] = '\0';
	return true;
}

static bool parse_line(char *line, struct area_mapping *mapping)
{
	unsigned long long start, end, inode;
	unsigned int major, minor;
	char mode[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %*s %x:%x %llu %n", &start, &end, mode, &major, &minor, &inode, &path_at) !=
		    6 ||
	    !path_at || mode[3] != 's')
		return false;
	line[strcspn(line, "\n")] = '\0';
	if (!take_path(line + path_at))
		return false;
	*mapping = (struct area_mapping){ start, end, makedev(major, minor), inode, line + path_at };
	return true;
}

/* A file is mapped twice: as a whole, and its switches. */
static bool is_new(struct seen *seen, size_t *count, const struct area_mapping *mapping)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (seen[i].device == mapping->device && seen[i].inode == mapping->inode)
			return false;
	seen[(*count)++] = (struct seen){ mapping->device, mapping->inode };
	return true;
}

int area_maps_read(uint32_t pid, void (*on_mapping)(void *data, const struct area_mapping *mapping), void *data)
{
	struct seen seen[AREA_MAPPINGS_MAX];
	struct area_mapping mapping;
	size_t count = 0, line_bytes = 0, lines;
	char path[32], *line = NULL;
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	for (lines = 0; lines < LINES_MAX && count < AREA_MAPPINGS_MAX; lines++) {
		if (getline(&line, &line_bytes, file) <= 0)
			break;
		if (parse_line(line, &mapping) && is_new(seen, &count, &mapping))
			on_mapping(data, &mapping);
	}
	/* A process that is gone has a file that opens and is empty, or fails with ESRCH. */
	err = ferror(file) ? -errno : lines ? 0 : -ESRCH;
	free(line);
	fclose(file);
	return err;
}
