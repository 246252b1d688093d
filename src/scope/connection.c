/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "scope/tls.h"

struct connection {
	int fd;
	struct tls_session *tls; /* NULL: without */
	bool wants_space;
};

struct connection *connection_new(int fd, const struct tls *tls)
{
	struct connection *connection = xcalloc(1, sizeof(*connection));

	connection->fd = fd;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (!tls || !tls_session_open(tls, fd, &connection->tls))
		return connection;
	connection_free(connection);
	return NULL;
}

void connection_free(struct connection *connection)
{
	if (!connection)
		return;
	tls_session_close(connection->tls);
	close(connection->fd);
	free(connection);
}

int connection_fd(const struct connection *connection)
{
	return connection->fd;
}

int connection_greet(struct connection *connection)
{
	int err = connection->tls ? tls_session_greet(connection->tls) : 0;

	connection->wants_space = connection->tls && tls_session_wants_space(connection->tls);
	return err;
}

ssize_t connection_send(struct connection *connection, const void *bytes, size_t size_bytes)
{
	ssize_t n;

	if (connection->tls) {
		n = tls_session_send(connection->tls, bytes, size_bytes);
	} else {
		n = send(connection->fd, bytes, size_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		n = n < 0 ? -errno : n;
	}
	if (n == -EINTR)
		n = -EAGAIN;
	connection->wants_space = n == -EAGAIN;
	return n;
}

ssize_t connection_receive(struct connection *connection, void *bytes, size_t size_bytes)
{
	ssize_t n;

	if (connection->tls)
		return tls_session_receive(connection->tls, bytes, size_bytes);
	n = recv(connection->fd, bytes, size_bytes, MSG_DONTWAIT);
	if (n < 0 && errno == EINTR)
		return -EAGAIN;
	return n < 0 ? -errno : n;
}

bool connection_has_more(const struct connection *connection)
{
	return connection->tls && tls_session_has_more(connection->tls);
}

bool connection_is_broken(const struct connection *connection)
{
	struct pollfd state = { .fd = connection->fd };

	return poll(&state, 1, 0) > 0 && state.revents & (POLLERR | POLLHUP | POLLNVAL);
}

void connection_end(struct connection *connection)
{
	if (connection->tls)
		tls_session_end(connection->tls);
	shutdown(connection->fd, SHUT_WR);
}

bool connection_wants_space(const struct connection *connection)
{
	return connection->wants_space;
}

const char *connection_reason(const struct connection *connection)
{
	return connection->tls ? tls_session_reason(connection->tls) : NULL;
}
