/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out/out_temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = ".pinch-";

static const mode_t private_mode = 0600;

int out_temporary_open(int directory)
{
	int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, private_mode);

	if (fd >= 0)
		return fd;
	/* File systems that do not know it say so in several ways. */
	return errno == EISDIR || errno == EINVAL || errno == ENOENT ? -EOPNOTSUPP : -errno;
}

int out_temporary_open_large(void)
{
	static const char *const directories[] = { "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(directories) / sizeof(*directories); i++)
		fd = open(directories[i], O_TMPFILE | O_RDWR | O_CLOEXEC, private_mode);
	return fd < 0 ? -errno : fd;
}

static int choose_name(char name[OUT_TEMPORARY_NAME_BYTES])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(name, OUT_TEMPORARY_NAME_BYTES, "%s%016llx", prefix, (unsigned long long)number);
	return 0;
}

/* One of ours that nobody holds: its writer was killed. */
static bool is_left_over(int directory, const char *name)
{
	struct stat status;
	bool is_locked;
	int fd;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || strlen(name) != sizeof(prefix) - 1 + 16 ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid())
		return false;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_locked = flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return !is_locked;
}

static void sweep(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (is_left_over(directory, entry->d_name))
			unlinkat(directory, entry->d_name, 0);
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

int out_temporary_open_named(int directory, char name[OUT_TEMPORARY_NAME_BYTES])
{
	struct stat status;
	int fd, err = choose_name(name);

	if (err)
		return err;
	sweep(directory);
	fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_mode);
	if (fd < 0)
		return -errno;
	/* Somebody who sweeps may have been faster. Where there are no locks, nobody sweeps. */
	if ((!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && !fstat(fd, &status) && status.st_nlink)
		return fd;
	close(fd);
	unlinkat(directory, name, 0);
	return -EBUSY;
}

int out_temporary_link(int fd, int directory, const char *name)
{
	char path[64];

	/* That may take a privilege; the other way takes /proc. */
	if (!linkat(fd, "", directory, name, AT_EMPTY_PATH))
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int out_temporary_replace(int fd, int directory, const char *name)
{
	char temporary[OUT_TEMPORARY_NAME_BYTES];
	int err = choose_name(temporary);

	if (!err)
		err = out_temporary_link(fd, directory, temporary);
	if (!err && renameat(directory, temporary, directory, name)) {
		err = -errno;
		unlinkat(directory, temporary, 0);
	}
	return err;
}
