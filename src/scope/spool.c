/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "scope/receiver.h"

struct spool {
	int fd;
	char path[32];
};

/* Where large files may lie, then where there is space at all. */
static int open_nameless(void)
{
	static const char *const directories[] = { "/var/tmp", "/tmp" };
	const char *chosen = getenv("TMPDIR");
	int fd = chosen && *chosen ? open(chosen, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	for (size_t i = 0; fd < 0 && i < sizeof(directories) / sizeof(*directories); i++)
		fd = open(directories[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd;
}

int spool_open(const struct receiver_options *options, struct spool **out)
{
	struct spool *spool = xcalloc(1, sizeof(*spool));
	int err;

	spool->fd = open_nameless();
	if (spool->fd < 0)
		err = fail(-errno, "cannot make a temporary file: set TMPDIR to a directory with space");
	else
		err = receiver_run(options, spool->fd);
	if (err) {
		spool_close(spool);
		return err;
	}
	snprintf(spool->path, sizeof(spool->path), "/proc/self/fd/%d", spool->fd);
	*out = spool;
	return 0;
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
