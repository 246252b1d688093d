/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/address_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"

enum {
	BACKLOG = 64,
	SOCKET_MODE_MASK = 0177,
	KEEPALIVE_IDLE_S = 30,
	KEEPALIVE_PERIOD_S = 10,
	KEEPALIVE_COUNT = 3,
	UNTAKEN_MS_MAX = 120000, /* who takes nothing for so long has gone */
};

size_t address_path_max(void)
{
	return sizeof(((struct sockaddr_un *)0)->sun_path);
}

static void note_chosen(int fd, struct address *address)
{
	struct sockaddr_storage chosen;
	socklen_t size_bytes = sizeof(chosen);

	if (!getsockname(fd, (struct sockaddr *)&chosen, &size_bytes))
		getnameinfo((struct sockaddr *)&chosen, size_bytes, address->host, sizeof(address->host), address->port,
			    sizeof(address->port), NI_NUMERICHOST | NI_NUMERICSERV);
}

int address_listen_tcp(const struct addrinfo *info, struct address *address, int *fd)
{
	int err = 0, one = 1, made = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (made < 0)
		return fail(-errno, "cannot open a socket");
	setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(made, info->ai_addr, info->ai_addrlen) || listen(made, BACKLOG))
		err = fail(-errno, "cannot listen on %s port %s", address->host, address->port);
	if (err) {
		close(made);
		return err;
	}
	note_chosen(made, address);
	*fd = made;
	return 0;
}

static void fill(struct sockaddr_un *place, const struct address *address)
{
	*place = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(place->sun_path, address->host, strnlen(address->host, sizeof(place->sun_path) - 1));
}

/* A socket at whose other end nobody is: its server was killed. */
static void remove_dead(const struct sockaddr_un *place)
{
	struct stat status;
	int fd;

	if (lstat(place->sun_path, &status) || !S_ISSOCK(status.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)place, sizeof(*place)) && errno == ECONNREFUSED)
		unlink(place->sun_path);
	close(fd);
}

int address_listen_unix(const struct address *address, int *fd)
{
	int err = 0, made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un place;
	mode_t mask;

	if (made < 0)
		return fail(-errno, "cannot open a socket");
	fill(&place, address);
	remove_dead(&place);
	mask = umask(SOCKET_MODE_MASK);
	if (bind(made, (struct sockaddr *)&place, sizeof(place)) || listen(made, BACKLOG))
		err = -errno;
	umask(mask);
	if (err) {
		close(made);
		return fail(err, "cannot listen on the Unix socket %s", address->host);
	}
	*fd = made;
	return 0;
}

void address_unlisten(const struct address *address, int fd)
{
	if (fd < 0)
		return;
	if (address->kind == ADDRESS_UNIX)
		unlink(address->host);
	close(fd);
}

int address_connect_unix(const struct address *address, int *fd)
{
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un place;

	if (made < 0)
		return fail(-errno, "cannot open a socket");
	fill(&place, address);
	if (connect(made, (struct sockaddr *)&place, sizeof(place))) {
		int err = fail_plain(-errno, "cannot connect to the Unix socket %s: %s; is pinch scope running there?",
				     address->host, strerror(errno));

		close(made);
		return err;
	}
	*fd = made;
	return 0;
}

static int await(int fd, int wait_ms)
{
	struct pollfd waits = { .fd = fd, .events = POLLOUT };
	socklen_t size_bytes = sizeof(int);
	int err;

	if (poll(&waits, 1, wait_ms) <= 0)
		return -ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size_bytes) ? -errno : -err;
}

int address_connect_tcp(const struct addrinfo *info, int wait_ms, int *fd)
{
	int err = 0, made = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (made < 0)
		return -errno;
	if (connect(made, info->ai_addr, info->ai_addrlen))
		err = errno == EINPROGRESS ? await(made, wait_ms) : -errno;
	if (err)
		close(made);
	else
		*fd = made;
	return err;
}

void address_bound_silence(int fd)
{
	static const struct {
		int level, option, value;
	} bounds[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_PERIOD_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, UNTAKEN_MS_MAX },
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		setsockopt(fd, bounds[i].level, bounds[i].option, &bounds[i].value, sizeof(bounds[i].value));
}
