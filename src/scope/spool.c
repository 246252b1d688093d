/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/out/out_temporary.h"
#include "scope/receiver.h"

enum { COPIED_BYTES = 256 << 10 };

struct spool {
	int fd;
	char path[32];
};

int spool_new(struct spool **out)
{
	int fd = out_temporary_open_large();
	struct spool *spool;

	if (fd < 0)
		return fail(fd, "cannot make a temporary file in /var/tmp");
	spool = xcalloc(1, sizeof(*spool));
	spool->fd = fd;
	snprintf(spool->path, sizeof(spool->path), "/proc/self/fd/%d", fd);
	*out = spool;
	return 0;
}

static int end(struct spool *spool, int err, struct spool **out)
{
	if (err)
		spool_close(spool);
	else
		*out = spool;
	return err;
}

int spool_open(const struct receiver_options *options, struct spool **out)
{
	struct spool *spool;
	int err = spool_new(&spool);

	return err ? err : end(spool, receiver_run(options, spool->fd), out);
}

int spool_open_fd(int fd, struct spool **out)
{
	static char bytes[COPIED_BYTES];
	struct spool *spool;
	ssize_t n;
	int err = spool_new(&spool);

	if (err)
		return err;
	while (!err && (n = read(fd, bytes, sizeof(bytes)))) {
		if (n > 0)
			err = receiver_write(spool->fd, bytes, n);
		else if (errno != EINTR)
			err = fail(-errno, "cannot read the trace from standard input");
	}
	return end(spool, err, out);
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool);
}

const char *spool_path(const struct spool *spool)
{
	return spool->path;
}

int spool_fd(const struct spool *spool)
{
	return spool->fd;
}

static int copy(int from, int to)
{
	static char bytes[COPIED_BYTES];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		int err = receiver_write(to, bytes, n);

		if (err)
			return err;
		at += n;
	}
	return n < 0 ? -errno : 0;
}

int spool_keep(const struct spool *spool, const char *path)
{
	struct out_file *file;
	int err = out_file_open(path, OUT_FILE_LOCKED, &file), close_err;

	if (err)
		return err;
	err = out_file_begin(file);
	if (!err)
		err = copy(spool->fd, out_file_fd(file));
	if (!err)
		err = out_file_commit(file);
	close_err = out_file_close(file);
	return err ? err : close_err;
}
