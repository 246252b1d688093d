/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/maps_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Of executable ones; the kernel's own default for all is 65530. Whoever asks keeps them, paths and all. */
enum {
	MAPPINGS_MAX = 16384,      /* twice those of the largest programs seen */
	PATHS_BYTES_MAX = 4 << 20, /* of all, which the process chose */
};

/* The kernel writes a newline in a name as \012, and nothing else in another way. */
static void unescape(char *path)
{
	char *out = path;

	for (; *path; out++) {
		if (!strncmp(path, "\\012", 4)) {
			*out = '\n';
			path += 4;
		} else {
			*out = *path++;
		}
	}
	*out = '\0';
}

/* False when the line is not one of an executable mapping. */
static bool parse_line(char *line, struct file_mapping *mapping)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char mode[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, mode, &offset, &major, &minor, &inode,
		   &path_at) != 7 ||
	    !path_at || mode[2] != 'x')
		return false;
	line[strcspn(line, "\n")] = '\0';
	unescape(line + path_at);
	*mapping = (struct file_mapping){
		.start = start,
		.end = end,
		.file_offset = offset,
		.device = makedev(major, minor),
		.inode = inode,
		.path = line + path_at,
	};
	return true;
}

int maps_file_read(uint32_t pid, void (*on_mapping)(void *data, const struct file_mapping *mapping), void *data)
{
	struct file_mapping mapping;
	size_t capacity = 0, count = 0, paths_bytes = 0;
	char *line = NULL;
	bool is_cut = false;
	char path[32];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	errno = 0;
	while (!is_cut && getline(&line, &capacity, file) > 0) {
		if (parse_line(line, &mapping)) {
			paths_bytes += strlen(mapping.path) + 1;
			is_cut = count++ == MAPPINGS_MAX || paths_bytes > PATHS_BYTES_MAX;
			if (!is_cut)
				on_mapping(data, &mapping);
		}
		errno = 0;
	}
	/* A process that is gone has a file that opens and is empty, or fails with ESRCH. */
	err = ferror(file) ? -errno : is_cut ? -E2BIG : count ? 0 : -ESRCH;
	free(line);
	fclose(file);
	return err;
}
