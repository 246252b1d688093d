// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded before the C library: fdatasync() of MariaDB's redo log takes 30 ms longer.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_redo_log(int fd)
{
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = 0;
	return strstr(path, "ib_logfile0") != NULL;
}

int fdatasync(int fd)
{
	static const struct timespec delay = { .tv_nsec = 30000000 };
	int (*sync_data)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	if (is_redo_log(fd))
		nanosleep(&delay, NULL);
	return sync_data(fd);
}
