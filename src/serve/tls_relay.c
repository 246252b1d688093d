/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/tls_relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "scope/connection.h"

enum {
	PIECE_BYTES = 16 << 10,
	PIECES_MAX = 16, /* in a turn; then others have theirs */
};

static const uint64_t greeting_ns_max = 10000000000;

/* Bytes that have come from one side and not gone to the other. */
struct way {
	char bytes[PIECE_BYTES];
	size_t begin, end;
	bool has_ended; /* nothing more comes */
};

struct tls_relay {
	struct connection *outside, *inside; /* inside: NULL: TLS has not begun yet */
	uint64_t begun_ns;
	uint16_t port;
	struct way in, out;
};

struct tls_relay *tls_relay_new(int fd, const struct tls *tls, uint16_t port, uint64_t now_ns)
{
	struct connection *outside = connection_new(fd, tls);
	struct tls_relay *relay;

	if (!outside)
		return NULL;
	relay = xcalloc(1, sizeof(*relay));
	relay->outside = outside;
	relay->port = port;
	relay->begun_ns = now_ns;
	return relay;
}

void tls_relay_free(struct tls_relay *relay)
{
	connection_free(relay->outside);
	connection_free(relay->inside);
	free(relay);
}

static bool is_empty(const struct way *way)
{
	return way->begin == way->end;
}

static short events_of(const struct way *from, const struct way *to)
{
	return (is_empty(from) && !from->has_ended ? POLLIN : 0) | (is_empty(to) ? 0 : POLLOUT);
}

void tls_relay_poll(const struct tls_relay *relay, struct pollfd fds[static TLS_RELAY_FDS])
{
	fds[0] = (struct pollfd){ .fd = connection_fd(relay->outside) };
	fds[1] = (struct pollfd){ .fd = -1 };
	if (!relay->inside) {
		fds[0].events = connection_wants_space(relay->outside) ? POLLOUT : POLLIN;
		return;
	}
	fds[0].events = events_of(&relay->in, &relay->out);
	fds[1].fd = connection_fd(relay->inside);
	fds[1].events = events_of(&relay->out, &relay->in);
	for (int i = 0; i < TLS_RELAY_FDS; i++)
		if (!fds[i].events) /* an end that is known would be told again and again */
			fds[i].fd = -1;
}

/* Within this machine that does not wait. */
static bool go_inside(struct tls_relay *relay)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(relay->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return false;
	}
	relay->inside = connection_new(fd, NULL);
	return true;
}

/*
 * Bytes of which a part could not be sent are sent again as they are, as TLS wants. What TLS has received the socket does not tell: from
 * there, all is taken, which a request does not make long. False: it is broken.
 */
static bool move(struct connection *from, struct connection *to, struct way *way)
{
	for (int pieces = 0; pieces < PIECES_MAX || connection_has_more(from);) {
		ssize_t n;

		if (!is_empty(way)) {
			n = connection_send(to, way->bytes + way->begin, way->end - way->begin);
			if (n < 0)
				return n == -EAGAIN;
			way->begin += n;
			continue;
		}
		if (way->has_ended)
			return true;
		n = connection_receive(from, way->bytes, sizeof(way->bytes));
		if (n < 0)
			return n == -EAGAIN;
		way->begin = 0;
		way->end = n;
		way->has_ended = !n;
		pieces++;
		if (way->has_ended)
			connection_end(to);
	}
	return true;
}

bool tls_relay_step(struct tls_relay *relay, uint64_t now_ns)
{
	if (!relay->inside) {
		int err = connection_greet(relay->outside);

		if (err == -EAGAIN)
			return now_ns - relay->begun_ns < greeting_ns_max;
		if (err || !go_inside(relay))
			return false;
	}
	return move(relay->outside, relay->inside, &relay->in) && move(relay->inside, relay->outside, &relay->out) &&
	       !(relay->out.has_ended && is_empty(&relay->out));
}
