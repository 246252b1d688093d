/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/close_file.h"

#include <linux/magic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A disk's own, or in memory. An overlay asks the file systems that it lies on. */
static bool is_local(int fd)
{
	struct statfs system;
	struct stat status;

	if (fstat(fd, &status))
		return false;
	if (major(status.st_dev))
		return true;
	return !fstatfs(fd, &system) &&
	       (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC || system.f_type == BTRFS_SUPER_MAGIC);
}

void file_close(int fd)
{
	if (fd >= 0 && is_local(fd))
		close(fd);
}
