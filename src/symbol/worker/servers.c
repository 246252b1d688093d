/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "helper/message.h"
#include "symbol/worker/debuginfod.h"
#include "symbol/worker/servers_confine.h"

enum { ID_BYTES_MAX = 64 };

bool servers_are_wanted(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && servers[0];
}

void servers_serve(const struct helper_sockets *sockets)
{
	uint8_t build_id[ID_BYTES_MAX];

	prctl(PR_SET_NAME, "pinch-servers");
	/* Without it there are only the debug files of this machine. */
	if (servers_confine())
		_exit(1);
	for (;;) {
		int fd;
		ssize_t n = message_get(sockets->debuginfod, build_id, sizeof(build_id), &fd);
		int32_t err;

		if (n <= 0)
			_exit(0);
		fd = debuginfod_fetch(build_id, n);
		err = fd < 0 ? fd : 0;
		message_put(sockets->debuginfod, &err, sizeof(err), fd);
		if (fd >= 0)
			close(fd);
	}
}

int servers_ask(int socket, const uint8_t *build_id, size_t size_bytes)
{
	int32_t err;
	int fd;

	if (socket < 0 || size_bytes > ID_BYTES_MAX || message_put(socket, build_id, size_bytes, -1) ||
	    message_get(socket, &err, sizeof(err), &fd) != sizeof(err))
		return -ENOENT;
	if (!err && fd >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return err ? err : -ENOENT;
}
