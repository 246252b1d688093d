/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/local.h"

#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Not in every version of <linux/magic.h>. */
#define XFS_MAGIC 0x58465342
#define ZFS_MAGIC 0x2fc12fc1

static const struct {
	const char *name;
	uint64_t type;
} systems[] = {
	{ "tmpfs", TMPFS_MAGIC },
	{ "ext2", EXT2_SUPER_MAGIC },
	{ "ext3", EXT3_SUPER_MAGIC },
	{ "ext4", EXT4_SUPER_MAGIC },
	{ "xfs", XFS_MAGIC },
	{ "btrfs", BTRFS_SUPER_MAGIC },
	{ "overlay", OVERLAYFS_SUPER_MAGIC },
	{ "f2fs", F2FS_SUPER_MAGIC },
	{ "zfs", ZFS_MAGIC },
};

enum { SYSTEMS = sizeof(systems) / sizeof(*systems), MOUNTS_MAX = 65536 };

bool area_file_system_is_local(uint64_t type)
{
	size_t i;

	for (i = 0; i < SYSTEMS; i++)
		if (systems[i].type == type)
			return true;
	return false;
}

static bool is_memfds(uint64_t device)
{
	struct stat status;
	int fd = memfd_create("pinch", MFD_CLOEXEC);
	bool is_it;

	if (fd < 0)
		return false;
	is_it = !fstat(fd, &status) && status.st_dev == device;
	close(fd);
	return is_it;
}

/* Its type is the first word behind " - ". */
static bool line_says_local(const char *line, uint64_t device)
{
	const char *type = strstr(line, " - ");
	unsigned int major, minor;
	size_t length, i;

	if (!type || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2 || makedev(major, minor) != device)
		return false;
	type += 3;
	length = strcspn(type, " ");
	for (i = 0; i < SYSTEMS; i++)
		if (strlen(systems[i].name) == length && !memcmp(type, systems[i].name, length))
			return true;
	return false;
}

bool area_device_is_local(uint32_t pid, uint64_t device)
{
	size_t line_bytes = 0, lines;
	char path[32], *line = NULL;
	bool is_local = false;
	FILE *file;

	if (is_memfds(device))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	for (lines = 0; lines < MOUNTS_MAX && !is_local && getline(&line, &line_bytes, file) > 0; lines++)
		is_local = line_says_local(line, device);
	free(line);
	fclose(file);
	return is_local;
}
