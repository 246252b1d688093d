/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/out/out_file_internal.h"
#include "base/out/out_path.h"
#include "base/out/out_temporary.h"

enum { COPIED_BYTES = 16 << 10 };

/* --- Writing -------------------------------------------------------------------------------- */

/* A trace does not wait for its reader, who has to be there: nothing else could end that. */
static int begin_special(struct out_file *file)
{
	bool waits = !(file->flags & OUT_FILE_LOCKED);
	int fd = out_file_reopen(file->path.file, O_WRONLY | (waits ? 0 : O_NONBLOCK));

	if (fd >= 0 && !waits)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

int out_file_begin(struct out_file *file)
{
	if (file->fd >= 0)
		return 0;
	switch (file->kind) {
	case OUT_SPECIAL:
		file->fd = begin_special(file);
		break;
	case OUT_OVERWRITTEN:
		file->fd = memfd_create("pinch-output", MFD_CLOEXEC);
		if (file->fd < 0)
			file->fd = -errno;
		break;
	case OUT_REPLACED:
		file->fd = out_temporary_open_named(file->path.directory, file->temporary);
		if (file->fd < 0)
			*file->temporary = '\0';
		break;
	case OUT_DESCRIPTOR:
		break;
	}
	return file->fd < 0 ? file->fd : 0;
}

int out_file_fd(const struct out_file *file)
{
	return file->fd;
}

bool out_file_is_stream(const struct out_file *file)
{
	return file->kind == OUT_DESCRIPTOR || file->kind == OUT_SPECIAL;
}

bool out_file_is_staged(const struct out_file *file)
{
	return file->kind == OUT_OVERWRITTEN && !file->is_committed;
}

/* --- Putting it in place -------------------------------------------------------------------- */

/* What was asked for by giving the old file its mode. A group that we may not give it must not read it. */
static void take_mode(const struct out_file *file)
{
	const struct stat *old = &file->path.status;
	mode_t mode = old->st_mode & 0777;
	struct stat status;

	if (!out_file_is_ours(&file->path) || fstat(file->fd, &status))
		return;
	if (status.st_gid != old->st_gid && fchown(file->fd, -1, old->st_gid))
		mode &= ~S_IRWXG;
	fchmod(file->fd, mode);
}

/* Closing reports what some file systems could not write; of a descriptor more, the file stays open. */
static int flush(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return -errno;
	return close(copy) && errno != EINTR ? -errno : 0;
}

static int put_in_place(struct out_file *file)
{
	const struct out_path *path = &file->path;
	int err = -EEXIST;

	if (*file->temporary) {
		err = renameat(path->directory, file->temporary, path->directory, path->name) ? -errno : 0;
		if (!err)
			*file->temporary = '\0';
		return err;
	}
	if (path->file < 0)
		err = out_temporary_link(file->fd, path->directory, path->name);
	if (err == -EEXIST)
		err = out_temporary_replace(file->fd, path->directory, path->name);
	return err;
}

static int commit_replaced(struct out_file *file)
{
	struct stat found = file->path.status;
	int err;

	if (file->is_shown)
		return 0;
	err = out_path_look_again(&file->path);
	if (err)
		return err;
	if (file->path.file >= 0 && out_file_is_kept(&file->path.status))
		return -EEXIST;
	if (file->path.status.st_ino != found.st_ino || file->path.status.st_dev != found.st_dev)
		err = out_file_lock_old(file);
	if (!err)
		err = flush(file->fd);
	if (err)
		return err;
	take_mode(file);
	err = put_in_place(file);
	return err == -EBUSY ? -EPERM : err; /* something was mounted there */
}

static int copy(int from, int to)
{
	char bytes[COPIED_BYTES];
	off_t at = 0;
	ssize_t count, written;

	while ((count = pread(from, bytes, sizeof(bytes), at)) > 0)
		for (ssize_t done = 0; done < count; done += written, at += written) {
			written = pwrite(to, bytes + done, count - done, at);
			if (written < 0)
				return -errno;
		}
	return count < 0 ? -errno : 0;
}

/* From here on the descriptor is one of the file itself. */
static int commit_overwritten(struct out_file *file)
{
	int err = ftruncate(file->old_fd, 0) ? -errno : copy(file->fd, file->old_fd);

	if (!err && dup3(file->old_fd, file->fd, O_CLOEXEC) < 0)
		err = -errno;
	return err ? err : flush(file->fd);
}

int out_file_commit(struct out_file *file)
{
	int err = 0;

	if (file->is_committed)
		return 0;
	if (file->kind == OUT_REPLACED)
		err = commit_replaced(file);
	else if (file->kind == OUT_OVERWRITTEN)
		err = commit_overwritten(file);
	file->is_committed = !err;
	return err;
}

/* A name that we gave, unless somebody has put something else there. */
static void take_back(const struct out_file *file)
{
	struct stat ours, status;

	if (*file->temporary)
		unlinkat(file->path.directory, file->temporary, 0);
	if (file->is_shown && !file->is_committed && !fstat(file->fd, &ours) &&
	    !fstatat(file->path.directory, file->path.name, &status, AT_SYMLINK_NOFOLLOW) &&
	    status.st_dev == ours.st_dev && status.st_ino == ours.st_ino)
		unlinkat(file->path.directory, file->path.name, 0);
}

int out_file_close(struct out_file *file)
{
	int err = 0;

	if (!file)
		return 0;
	take_back(file);
	if (file->fd >= 0 && file->kind != OUT_DESCRIPTOR && close(file->fd) && errno != EINTR)
		err = -errno;
	if (file->old_fd >= 0)
		close(file->old_fd);
	out_path_fini(&file->path);
	free(file);
	return err;
}

const char *out_file_advice(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return " (free some space, or choose a file on another disk)";
	case -ENOENT:
		return " (the directory does not exist: create it)";
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return " (choose a file of your own, in a directory that you can write to)";
	case -EISDIR:
		return " (it is a directory: choose a file in it)";
	case -ELOOP:
		return " (it is a symbolic link of another user: choose the file that it points to)";
	case -EEXIST:
		return " (this run already reads or writes it: choose another file)";
	case -ENXIO:
		return " (no process reads the other end)";
	}
	return "";
}
