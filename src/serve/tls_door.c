/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/tls_door.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "scope/address.h"
#include "scope/tls.h"
#include "serve/tls_relay.h"

enum {
	RELAYS_MAX = 128, /* who comes when there are so many waits */
	OWN_FDS = 2,
	HOST_BYTES = 300,
	LOOK_MS = 1000,
};

static const uint64_t closed_ns = 1000000000;

struct tls_door {
	struct tls *tls;
	struct address address;
	char host[HOST_BYTES];
	int listen_fd, stop_fd;
	uint16_t port;
	pthread_t thread;
	bool is_open;
	uint64_t closed_until_ns; /* there was no descriptor for one who came */
	struct tls_relay *relays[RELAYS_MAX];
	size_t count;
};

static void let_in(struct tls_door *door, uint64_t now_ns)
{
	int fd = accept4(door->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct tls_relay *relay;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			door->closed_until_ns = now_ns + closed_ns;
		return;
	}
	address_bound_silence(fd);
	relay = tls_relay_new(fd, door->tls, door->port, now_ns);
	if (relay)
		door->relays[door->count++] = relay;
}

static void let_out(struct tls_door *door, size_t i)
{
	tls_relay_free(door->relays[i]);
	door->relays[i] = door->relays[--door->count];
}

static void *run(void *data)
{
	struct pollfd fds[OWN_FDS + TLS_RELAY_FDS * RELAYS_MAX];
	struct tls_door *door = data;

	for (;;) {
		uint64_t now_ns = clock_ns();
		bool has_space = door->count < RELAYS_MAX && now_ns >= door->closed_until_ns;

		fds[0] = (struct pollfd){ .fd = door->stop_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = has_space ? door->listen_fd : -1, .events = POLLIN };
		for (size_t i = 0; i < door->count; i++)
			tls_relay_poll(door->relays[i], &fds[OWN_FDS + TLS_RELAY_FDS * i]);
		poll(fds, OWN_FDS + TLS_RELAY_FDS * door->count, LOOK_MS);
		if (fds[0].revents)
			return NULL;
		now_ns = clock_ns();
		for (size_t i = door->count; i-- > 0;)
			if (!tls_relay_step(door->relays[i], now_ns))
				let_out(door, i);
		if (fds[1].revents)
			let_in(door, now_ns);
	}
}

static void find_host(struct tls_door *door)
{
	const struct address *address = &door->address;
	bool is_all = !strcmp(address->host, "0.0.0.0") || !strcmp(address->host, "::");
	char name[HOST_BYTES / 2] = "";

	if (is_all && !gethostname(name, sizeof(name) - 1) && name[0])
		snprintf(door->host, sizeof(door->host), "%s:%s", name, address->port);
	else
		snprintf(door->host, sizeof(door->host), strchr(address->host, ':') ? "[%s]:%s" : "%s:%s",
			 address->host, address->port);
}

static int listen_at(struct tls_door *door, const char *text)
{
	int err = address_parse(text, &door->address);

	if (!err && door->address.kind == ADDRESS_UNIX)
		err = fail_plain(-EINVAL, "browsers find no Unix socket: give HOST:PORT, not %s", text);
	if (!err)
		err = address_listen(&door->address, true, &door->listen_fd);
	if (!err)
		find_host(door);
	return err;
}

static int begin(struct tls_door *door)
{
	int err;

	door->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (door->stop_fd < 0)
		return fail(-errno, "cannot serve readers of other machines");
	err = pthread_create(&door->thread, NULL, run, door);
	if (err)
		return fail(-err, "cannot serve readers of other machines");
	door->is_open = true;
	return 0;
}

int tls_door_open(const struct tls_door_options *options, struct tls_door **out)
{
	struct tls_door *door = xcalloc(1, sizeof(*door));
	int err;

	door->listen_fd = door->stop_fd = -1;
	door->port = options->port;
	err = tls_open_server(options->certificate, options->key, &door->tls);
	if (!err)
		err = listen_at(door, options->address);
	if (!err)
		err = begin(door);
	if (err)
		tls_door_close(door);
	else
		*out = door;
	return err;
}

void tls_door_close(struct tls_door *door)
{
	static const uint64_t one = 1;

	if (!door)
		return;
	if (door->is_open && write(door->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(door->thread, NULL);
	while (door->count)
		let_out(door, door->count - 1);
	if (door->listen_fd >= 0)
		close(door->listen_fd);
	if (door->stop_fd >= 0)
		close(door->stop_fd);
	tls_close(door->tls);
	free(door);
}

const char *tls_door_host(const struct tls_door *door)
{
	return door->host;
}
