/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

const char *user_file_find(const char *variable, const char *name, char *buffer, size_t buffer_bytes)
{
	const char *path = getenv(variable);
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (path && *path)
		return path;
	if (config && *config)
		snprintf(buffer, buffer_bytes, "%s/pinch/%s", config, name);
	else if (home && *home)
		snprintf(buffer, buffer_bytes, "%s/.config/pinch/%s", home, name);
	else
		return NULL;
	return access(buffer, F_OK) ? NULL : buffer;
}

int user_file_open(const char *path, const char *what, FILE **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
	struct stat status;
	FILE *file = NULL;

	if (fd >= 0 && !fstat(fd, &status) && !S_ISREG(status.st_mode))
		err = fail_plain(-EINVAL, "cannot read %s in %s: not a regular file", what, path);
	else if (fd < 0 || !(file = fdopen(fd, "r")))
		err = fail(-errno, "cannot read %s in %s", what, path);
	if (!err)
		*out = file;
	else if (fd >= 0)
		close(fd);
	return err;
}

/* Made when it is missing. -1: there is none, or somebody else may write to it. */
static int open_own(int parent, const char *path)
{
	struct stat status;
	int fd;

	mkdirat(parent, path, 0700);
	fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &status) || status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A directory in another one, which is closed. */
static int open_own_in(int parent, const char *name)
{
	int fd = parent < 0 ? -1 : open_own(parent, name);

	if (parent >= 0)
		close(parent);
	return fd;
}

int user_cache_open(const char *name, struct text *path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int fd;

	if (cache && *cache == '/')
		text_put(path, cache);
	else if (home && *home == '/')
		text_printf(path, "%s/.cache", home);
	else
		return -1;
	fd = open_own_in(open_own(AT_FDCWD, path->bytes), "pinch");
	text_put(path, "/pinch");
	if (!name)
		return fd;
	text_printf(path, "/%s", name);
	return open_own_in(fd, name);
}
