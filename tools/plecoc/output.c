/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the result: beside the file first, then in its place. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"

/* Closes the file too: on some file systems a lack of space shows only then. */
static int write_and_close(int fd, const struct buffer *content)
{
	size_t written = 0;
	int err = 0;

	while (!err && written < content->size) {
		ssize_t count = write(fd, content->data + written, content->size - written);

		if (count >= 0)
			written += count;
		else if (errno != EINTR)
			err = -errno;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0); /* it cannot be asked without being set */

	umask(mask);
	return 0666 & ~mask;
}

static int replace_file(const char *path, mode_t mode, const struct buffer *content)
{
	struct buffer temporary = { 0 };
	int err, fd;

	buffer_printf(&temporary, "%s.XXXXXX", path);
	fd = mkstemp(temporary.data);
	if (fd < 0) {
		err = -errno;
		goto out_free;
	}
	err = fchmod(fd, mode) ? -errno : 0;
	if (err)
		close(fd);
	else
		err = write_and_close(fd, content);
	if (!err && rename(temporary.data, path))
		err = -errno;
	if (err)
		unlink(temporary.data);

out_free:
	buffer_fini(&temporary);
	return err;
}

static int write_path(const char *path, const struct buffer *content)
{
	struct stat status;
	char *target;
	int err, fd;

	if (stat(path, &status))
		return errno == ENOENT ? replace_file(path, default_mode(), content) : -errno;
	if (!S_ISREG(status.st_mode)) {
		/* A device, a pipe: renaming over it would remove it. */
		fd = open(path, O_WRONLY | O_CLOEXEC);
		return fd < 0 ? -errno : write_and_close(fd, content);
	}
	target = realpath(path, NULL); /* a symbolic link stays, what it names is replaced */
	if (!target)
		return -errno;
	err = replace_file(target, status.st_mode & 07777, content);
	free(target);
	return err;
}

int output_write(const char *path, const struct buffer *content, struct buffer *messages)
{
	int err = path ? write_path(path, content) : write_and_close(STDOUT_FILENO, content);

	if (err)
		buffer_printf(messages, "plecoc: cannot write %s: %s\n", path ? path : "to standard output",
			      strerror(-err));
	return err;
}
