/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/session_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* In /proc/net/unix, @ stands for the NUL at the beginning of an abstract name. */
#define PREFIX "pinch.session."

enum { BACKLOG = 16, LINE_BYTES = 512, FOUND_MAX = 256 };

static const unsigned int listens = 1u << 16; /* the kernel's __SO_ACCEPTCON */

static socklen_t fill(struct sockaddr_un *place, const char *id)
{
	int length;

	*place = (struct sockaddr_un){ .sun_family = AF_UNIX };
	length = snprintf(place->sun_path + 1, sizeof(place->sun_path) - 1, PREFIX "%s", id);
	return offsetof(struct sockaddr_un, sun_path) + 1 + length;
}

int session_socket_listen(int *fd)
{
	int err = 0, made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un place;
	char id[SESSION_ID_BYTES];
	uint64_t random;
	socklen_t size_bytes;

	if (made < 0)
		return -errno;
	/* Processes of other PID namespaces may have the same number. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uintptr_t)&random;
	snprintf(id, sizeof(id), "%d.%016" PRIx64, (int)getpid(), random);
	size_bytes = fill(&place, id);
	if (bind(made, (struct sockaddr *)&place, size_bytes) || listen(made, BACKLOG)) {
		err = -errno;
		close(made);
	} else {
		*fd = made;
	}
	return err;
}

bool session_socket_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t size_bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size_bytes))
		return false;
	return peer.uid == 0 || peer.uid == geteuid();
}

/* -1: it is gone, or it is somebody else's. */
static int connect_to(const char *id)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un place;
	socklen_t size_bytes = fill(&place, id);

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&place, size_bytes) || !session_socket_is_trusted(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* "ffff8881: 00000002 00000000 00010000 0001 01 12345 @pinch.session.ID" */
static const char *id_in(char *line)
{
	const char *name = strstr(line, " @" PREFIX);
	unsigned int flags;

	line[strcspn(line, "\n")] = '\0';
	if (!name || sscanf(line, "%*s %*x %*x %x", &flags) != 1 || !(flags & listens))
		return NULL;
	name += strlen(" @" PREFIX);
	return strlen(name) < SESSION_ID_BYTES ? name : NULL;
}

void session_sockets_find(bool (*is_known)(const void *data, const char *id),
			  void (*take)(void *data, const char *id, int fd), void *data)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[LINE_BYTES];
	const char *id;
	int found = 0;

	while (file && found < FOUND_MAX && fgets(line, sizeof(line), file)) {
		id = id_in(line);
		if (!id || is_known(data, id))
			continue;
		int fd = connect_to(id);

		if (fd >= 0)
			take(data, id, fd);
		found++;
	}
	if (file)
		fclose(file);
}
