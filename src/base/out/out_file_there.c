/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies where an output is to be: whether it may be replaced, and nobody else writes it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/out/out_file_internal.h"

/* --- What is kept --------------------------------------------------------------------------- */

/* Open, so that no other file gets their numbers. */
static struct kept {
	int fd;
	struct stat status;
} * kept;
static size_t kept_count;

bool out_file_is_kept(const struct stat *status)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].status.st_dev == status->st_dev && kept[i].status.st_ino == status->st_ino)
			return true;
	return false;
}

void out_file_keep_fd(int fd)
{
	struct kept one = { .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };

	if (one.fd < 0)
		return;
	if (fstat(one.fd, &one.status) || !S_ISREG(one.status.st_mode) || out_file_is_kept(&one.status)) {
		close(one.fd);
		return;
	}
	kept = xrealloc(kept, kept_count + 1, sizeof(*kept));
	kept[kept_count++] = one;
}

void out_file_keep(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	out_file_keep_fd(fd);
	close(fd);
}

/* --- What is there -------------------------------------------------------------------------- */

int out_file_reopen(int fd, int flags)
{
	char path[64];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return opened < 0 ? -errno : opened;
}

bool out_file_is_ours(const struct out_path *path)
{
	return path->file >= 0 && S_ISREG(path->status.st_mode) && path->status.st_uid == geteuid() &&
	       path->status.st_nlink == 1 && is_trusted_owner(&path->directory_status) &&
	       (is_private_directory(&path->directory_status) || path->directory_status.st_mode & S_ISVTX);
}

int out_file_lock(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

int out_file_lock_old(struct out_file *file)
{
	struct stat locked = file->path.status;
	int err;

	if (file->old_fd >= 0)
		close(file->old_fd);
	file->old_fd = -1;
	if (!(file->flags & OUT_FILE_LOCKED) || file->path.file < 0 || !S_ISREG(locked.st_mode) ||
	    locked.st_uid != geteuid())
		return 0;
	file->old_fd = out_file_reopen(file->path.file, O_RDONLY | O_NONBLOCK);
	if (file->old_fd < 0)
		return file->old_fd;
	err = out_file_lock(file->old_fd);
	if (err)
		return err;
	/* Who wrote it may have put another one in its place, and released it. */
	err = out_path_look_again(&file->path);
	if (!err && (file->path.status.st_ino != locked.st_ino || file->path.status.st_dev != locked.st_dev))
		err = -EBUSY;
	return err;
}
