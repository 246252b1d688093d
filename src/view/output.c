/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

enum output_kind {
	OUTPUT_DESCRIPTOR,	/* open already */
	OUTPUT_IN_PLACE,	/* exists, and is no regular file */
	OUTPUT_FILE,
};

struct output {
	enum output_kind kind;
	int fd;			/* OUTPUT_DESCRIPTOR */
	const char *name;	/* for messages */
	char *file;		/* OUTPUT_FILE: what is replaced, symbolic links resolved */
	struct stat status;	/* st_ino 0: there is no such file yet */
};

/* "/dev/stdout" may lead to a regular file that the shell opened: it must stay that file. */
static bool is_descriptor(int fd, const struct stat *status)
{
	struct stat other;

	return !fstat(fd, &other) && other.st_dev == status->st_dev &&
	       other.st_ino == status->st_ino;
}

static int output_find(const char *path, struct output *output)
{
	*output = (struct output){ .name = path };
	if (!path || !strcmp(path, "-")) {
		output->kind = OUTPUT_DESCRIPTOR;
		output->fd = path ? STDOUT_FILENO : STDERR_FILENO;
		output->name = path ? "standard output" : "standard error";
		return 0;
	}
	if (stat(path, &output->status)) {
		if (errno != ENOENT)
			return -errno;
		output->kind = OUTPUT_FILE;
		output->status = (struct stat){ 0 };
		output->file = xstrdup(path);
		return 0;
	}
	if (S_ISDIR(output->status.st_mode))
		return -EISDIR;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (is_descriptor(fd, &output->status)) {
			output->kind = OUTPUT_DESCRIPTOR;
			output->fd = fd;
			return 0;
		}
	}
	if (!S_ISREG(output->status.st_mode)) {
		output->kind = OUTPUT_IN_PLACE;
		return 0;
	}
	output->kind = OUTPUT_FILE;
	output->file = realpath(path, NULL);
	return output->file ? 0 : -errno;
}

/* In the directory of the file, for rename() works within one file system only. */
static int temporary_open(const struct output *output, char **path)
{
	const char *slash = strrchr(output->file, '/');
	int length = slash ? (int)(slash - output->file) + 1 : 0, fd = -1;

	/* Not mkstemp(): only open() applies the umask without changing it for all threads. */
	for (int i = 0; i < 100; i++) {
		if (asprintf(path, "%.*s.pinch-%d-%d", length, output->file, (int)getpid(), i) < 0)
			return -ENOMEM;
		fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		fd = -errno;
		free(*path);
		*path = NULL;
		if (fd != -EEXIST)
			return fd;
	}
	return fd;
}

/* A file in a directory that is closed to us, or mounted by itself, can be overwritten only. */
static bool must_overwrite(const struct output *output, int err)
{
	return output->status.st_ino && (err == -EACCES || err == -EPERM || err == -EROFS);
}

static bool is_device(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISCHR(status.st_mode);
}

static int write_all(int fd, const struct text *text)
{
	size_t written = 0;

	while (written < text->length) {
		ssize_t count = write(fd, text->bytes + written, text->length - written);

		if (count >= 0) {
			written += count;
		} else if (errno == EAGAIN) {
			struct pollfd waits = { .fd = fd, .events = POLLOUT };

			poll(&waits, 1, -1);
		} else if (errno == EIO && is_device(fd)) {
			return -EPIPE;	/* a terminal that is gone, and who read there with it */
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int write_in_place(const char *path, int flags, const struct text *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, text);
	if (close(fd) && !err && errno != EINTR)
		err = -errno;
	return err;
}

/* The file keeps its owner, if that is allowed, and who may read it. */
static void copy_mode(int fd, const struct stat *old)
{
	if (!old->st_ino)
		return;
	if (fchown(fd, old->st_uid, old->st_gid))
		errno = 0;	/* the file becomes ours, as with any editor */
	fchmod(fd, old->st_mode & 0777);
}

static int write_file(const struct output *output, const struct text *text)
{
	char *temporary;
	int fd = temporary_open(output, &temporary), err;

	if (must_overwrite(output, fd))
		return write_in_place(output->file, O_TRUNC, text);
	if (fd < 0)
		return fd;
	copy_mode(fd, &output->status);
	err = write_all(fd, text);
	if (close(fd) && !err && errno != EINTR)
		err = -errno;
	if (!err && rename(temporary, output->file)) {
		err = -errno;
		if (err == -EBUSY)	/* a mount point of its own */
			err = write_in_place(output->file, O_TRUNC, text);
	} else if (!err) {
		goto out_free;
	}
	unlink(temporary);
out_free:
	free(temporary);
	return err;
}

static int check_file(const struct output *output)
{
	char *temporary;
	int fd;

	if (output->status.st_ino && faccessat(AT_FDCWD, output->file, W_OK, AT_EACCESS))
		return -errno;
	fd = temporary_open(output, &temporary);
	if (fd < 0)
		return must_overwrite(output, fd) ? 0 : fd;
	close(fd);
	unlink(temporary);
	free(temporary);
	return 0;
}

static const char *advice(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return " (make room, or name a file on another disk)";
	case -ENOENT:
		return " (its directory does not exist: create it)";
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return " (name a file in a directory that you may write to)";
	case -EISDIR:
		return " (name a file in it)";
	}
	return "";
}

static int output_fail(const struct output *output, int err)
{
	if (err == -EPIPE)
		return err;
	return fail(err, "cannot write to %s%s", output->name, advice(err));
}

int output_check(const char *path)
{
	struct output output;
	int err = output_find(path, &output);

	if (!err && output.kind == OUTPUT_DESCRIPTOR)
		err = fcntl(output.fd, F_GETFL) < 0 ? -errno : 0;
	else if (!err && output.kind == OUTPUT_IN_PLACE)
		err = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? -errno : 0;
	else if (!err)
		err = check_file(&output);
	free(output.file);
	return err ? output_fail(&output, err) : 0;
}

int output_write(const char *path, const struct text *text)
{
	struct output output;
	int err = output_find(path, &output);

	fflush(stdout);
	if (!err && output.kind == OUTPUT_DESCRIPTOR)
		err = write_all(output.fd, text);
	else if (!err && output.kind == OUTPUT_IN_PLACE)
		err = write_in_place(path, 0, text);
	else if (!err)
		err = write_file(&output, text);
	free(output.file);
	return err ? output_fail(&output, err) : 0;
}
