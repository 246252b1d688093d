/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out/out_file_internal.h"
#include "base/out/out_path.h"
#include "base/out/out_temporary.h"

/* "-o out >out", or "/dev/stdout": what the shell opened must stay that file. */
static bool find_standard(const struct stat *status, int *fd)
{
	struct stat other;

	for (*fd = STDOUT_FILENO; *fd <= STDERR_FILENO; ++*fd)
		if (!fstat(*fd, &other) && other.st_dev == status->st_dev && other.st_ino == status->st_ino)
			return true;
	return false;
}

static bool is_mounted(const struct out_path *path)
{
	struct statx status;

	return !statx(path->file, "", AT_EMPTY_PATH, STATX_TYPE, &status) &&
	       status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* --- Opening -------------------------------------------------------------------------------- */

static int open_descriptor(struct out_file *file, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	file->kind = OUT_DESCRIPTOR;
	file->fd = fd;
	return 0;
}

/* Only root makes devices; but whoever has a FIFO reads what is written there, or lets the writer wait. */
static int open_special(struct out_file *file)
{
	mode_t mode = file->path.status.st_mode;

	if (!S_ISCHR(mode) && !S_ISFIFO(mode))
		return -ENOTSUP;
	if (S_ISFIFO(mode) && !is_trusted_owner(&file->path.status))
		return -EPERM;
	if (faccessat(file->path.directory, file->path.name, W_OK, AT_EACCESS))
		return -errno;
	file->kind = OUT_SPECIAL;
	return 0;
}

static int open_overwritten(struct out_file *file)
{
	if (!out_file_is_ours(&file->path) || !is_private_directory(&file->path.directory_status))
		return -EPERM;
	if (file->old_fd >= 0)
		close(file->old_fd);
	file->old_fd = out_file_reopen(file->path.file, O_RDWR | O_NONBLOCK);
	if (file->old_fd < 0)
		return file->old_fd;
	file->kind = OUT_OVERWRITTEN;
	return file->flags & OUT_FILE_LOCKED ? out_file_lock(file->old_fd) : 0;
}

static bool is_closed(int err)
{
	return err == -EACCES || err == -EPERM || err == -EROFS;
}

static int may_replace(const struct out_file *file)
{
	const struct out_path *path = &file->path;
	uid_t user = geteuid();

	if (path->file < 0)
		return 0;
	if (out_file_is_kept(&path->status))
		return -EEXIST;
	if (faccessat(path->directory, path->name, W_OK, AT_EACCESS))
		return -errno;
	if (user && path->directory_status.st_mode & S_ISVTX && path->status.st_uid != user &&
	    path->directory_status.st_uid != user)
		return -EPERM;
	return 0;
}

/*
 * Where every new file has a name, one that is to be shown can have its own at once; another one gets its
 * when it is begun, so that a run that is killed while it traces leaves nothing.
 */
static int open_named(struct out_file *file)
{
	const struct out_path *path = &file->path;
	char name[OUT_TEMPORARY_NAME_BYTES];
	int fd;

	if (file->flags & OUT_FILE_SHOWN && path->file < 0) {
		fd = openat(path->directory, path->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return errno == EEXIST ? -EBUSY : -errno;
		file->is_shown = true;
		file->fd = fd;
		return 0;
	}
	fd = out_temporary_open_named(path->directory, name);
	if (fd < 0)
		return fd;
	unlinkat(path->directory, name, 0);
	close(fd);
	return 0;
}

/* Without a name. One that is to be shown has its own from here on, if nothing bears that. */
static int open_new(struct out_file *file)
{
	int err = 0;

	file->fd = out_temporary_open(file->path.directory);
	if (file->fd == -EOPNOTSUPP)
		err = open_named(file);
	else if (file->fd < 0)
		err = file->fd;
	if (err || file->fd < 0)
		return err;
	err = file->flags & OUT_FILE_LOCKED ? out_file_lock(file->fd) : 0;
	if (!err && file->flags & OUT_FILE_SHOWN && file->path.file < 0 && !file->is_shown) {
		err = out_temporary_link(file->fd, file->path.directory, file->path.name);
		file->is_shown = !err;
		if (err == -EEXIST)
			err = -EBUSY; /* it was not there a moment ago */
	}
	return err;
}

static int open_replaced(struct out_file *file)
{
	int err = may_replace(file);

	if (!err)
		err = out_file_lock_old(file);
	if (err)
		return err;
	file->kind = OUT_REPLACED;
	if (file->path.file >= 0 && is_mounted(&file->path))
		return open_overwritten(file);
	err = open_new(file);
	if (is_closed(err) && file->path.file >= 0 && !open_overwritten(file))
		return 0;
	return err;
}

static int open_there(struct out_file *file)
{
	const struct out_path *path = &file->path;
	int standard;

	if (path->descriptor >= 0)
		return open_descriptor(file, path->descriptor);
	if (path->file >= 0 && find_standard(&path->status, &standard))
		return open_descriptor(file, standard);
	if (path->file >= 0 && !S_ISREG(path->status.st_mode))
		return open_special(file);
	return open_replaced(file);
}

static struct out_file *file_new(unsigned int flags)
{
	struct out_file *file = xcalloc(1, sizeof(*file));

	file->flags = flags;
	file->kind = OUT_DESCRIPTOR;
	file->fd = file->old_fd = -1;
	file->path = (struct out_path){ .directory = -1, .file = -1, .descriptor = -1 };
	return file;
}

/* It is the caller's, or closed. */
static int end_opening(struct out_file *file, int err, struct out_file **out)
{
	if (err)
		out_file_close(file);
	else
		*out = file;
	return err;
}

int out_file_open(const char *path, unsigned int flags, struct out_file **out)
{
	struct out_file *file = file_new(flags);
	int err;

	if (!strcmp(path, "-"))
		return end_opening(file, open_descriptor(file, STDOUT_FILENO), out);
	err = out_path_find(path, &file->path);
	return end_opening(file, err ? err : open_there(file), out);
}

int out_file_open_at(int directory, const char *name, unsigned int flags, struct out_file **out)
{
	struct out_file *file = file_new(flags);
	int err = out_path_find_at(directory, name, &file->path);

	if (!err && file->path.file >= 0 && !S_ISREG(file->path.status.st_mode))
		err = -ENOTSUP;
	return end_opening(file, err ? err : open_there(file), out);
}
