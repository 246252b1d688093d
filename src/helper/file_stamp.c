/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/file_stamp.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/table.h"

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * 1000000000ll + time->tv_nsec;
}

/* The owner is taken for true. */
static void set(struct file_stamp *stamp, const struct stat *status)
{
	*stamp = (struct file_stamp){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size_bytes = status->st_size,
		.modified_ns = nanoseconds(&status->st_mtim),
		.changed_ns = nanoseconds(&status->st_ctim),
		.owner = status->st_uid,
	};
}

/*
 * What users mount (FUSE, disks that are plugged in) names any owner, root too. The kernel then
 * takes no such file for root's when it is executed: it has mounted it with nosuid.
 */
int file_stamp_read(int fd, struct file_stamp *stamp)
{
	struct statfs system;
	struct stat status;

	if (fstat(fd, &status) || fstatfs(fd, &system))
		return -errno;
	set(stamp, &status);
	stamp->is_owner_doubtful = (system.f_flags & ST_NOSUID) != 0;
	stamp->is_overlay = system.f_type == OVERLAYFS_SUPER_MAGIC;
	return 0;
}

bool file_stamp_has_same_contents(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       a->modified_ns == b->modified_ns;
}

bool file_stamp_is_same(const struct file_stamp *a, const struct file_stamp *b)
{
	return file_stamp_has_same_contents(a, b) && a->changed_ns == b->changed_ns && a->owner == b->owner;
}

uint64_t file_stamp_probe_key(const struct file_stamp *stamp)
{
	uint64_t layer = hash_u64(stamp->size_bytes ^ hash_u64(stamp->modified_ns ^ hash_u64(stamp->changed_ns)));

	return hash_u64(hash_u64(stamp->is_overlay ? layer : stamp->device) ^ stamp->inode);
}

bool file_stamp_is_owned(const struct file_stamp *stamp, uint32_t user)
{
	return !stamp->is_owner_doubtful && (!stamp->owner || stamp->owner == user);
}

bool file_stamp_may_describe(const struct file_stamp *stamp, const struct file_stamp *program)
{
	/* Who could choose the owner of the one could choose that of the other, and what is in it. */
	if (stamp->is_owner_doubtful && stamp->device != program->device)
		return false;
	return !stamp->owner || stamp->owner == program->owner;
}
