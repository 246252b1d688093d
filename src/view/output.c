/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/text.h"

/* Those that output_check() has opened, and that nobody has written yet. */
static struct opened {
	char *path;
	struct out_file *file;
} * opened;
static size_t opened_count;

/* The opened one of this path, for the caller to close; NULL: there is none. */
static struct out_file *opened_take(const char *path)
{
	struct out_file *file;

	for (size_t i = 0; i < opened_count; i++) {
		if (strcmp(opened[i].path, path))
			continue;
		file = opened[i].file;
		free(opened[i].path);
		opened[i] = opened[--opened_count];
		return file;
	}
	return NULL;
}

static void opened_put(const char *path, struct out_file *file)
{
	opened = xrealloc(opened, opened_count + 1, sizeof(*opened));
	opened[opened_count++] = (struct opened){ xstrdup(path), file };
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
			return -EPIPE; /* a terminal that is gone, and who read there with it */
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static const char *name_of(const char *path)
{
	return !path ? "standard error" : strcmp(path, "-") ? path : "standard output";
}

static int output_fail(const char *path, int err)
{
	if (err == -EPIPE)
		return err;
	return fail(err, "cannot write to %s%s", name_of(path), out_file_advice(err));
}

int output_check(const char *path)
{
	struct out_file *file;
	int err;

	if (!path) {
		err = fcntl(STDERR_FILENO, F_GETFL) < 0 ? -errno : 0;
	} else {
		out_file_close(opened_take(path));
		err = out_file_open(path, 0, &file);
		if (!err)
			opened_put(path, file);
	}
	return err ? output_fail(path, err) : 0;
}

static int write_file(const char *path, const struct text *text)
{
	struct out_file *file = opened_take(path);
	int err = file ? 0 : out_file_open(path, 0, &file), closed;

	if (!err)
		err = out_file_begin(file);
	if (!err)
		err = write_all(out_file_fd(file), text);
	if (!err)
		err = out_file_commit(file);
	closed = out_file_close(file);
	return err ? err : closed;
}

int output_write(const char *path, const struct text *text)
{
	int err;

	fflush(stdout);
	err = path ? write_file(path, text) : write_all(STDERR_FILENO, text);
	return err ? output_fail(path, err) : 0;
}
