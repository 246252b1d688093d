/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Takes an O_PATH descriptor: examining the file through it has no effect on the file. */
static int open_regular(int path_fd)
{
	char link[32];
	struct stat status;
	int fd;

	if (path_fd < 0)
		return -errno;
	if (fstat(path_fd, &status) || !S_ISREG(status.st_mode)) {
		close(path_fd);
		return -EINVAL;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(path_fd);
	return fd;
}

int file_open(const char *path)
{
	return open_regular(open(path, O_PATH | O_CLOEXEC));
}

int file_root(uint32_t pid)
{
	char root[32] = "/";
	int fd;

	if (pid)
		snprintf(root, sizeof(root), "/proc/%u/root", pid);
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int file_open_below(int root_fd, const char *path, bool follows_last_link)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follows_last_link ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return open_regular(syscall(SYS_openat2, root_fd, path, &how, sizeof(how)));
}

int file_open_in_root(uint32_t pid, const char *path, bool follows_last_link)
{
	int root_fd = file_root(pid), fd;

	if (root_fd < 0)
		return root_fd;
	fd = file_open_below(root_fd, path, follows_last_link);
	close(root_fd);
	return fd;
}
