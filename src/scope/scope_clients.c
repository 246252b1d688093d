/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clients come, are looked after, and go. */
#include "scope/scope_internal.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "scope/address_socket.h"
#include "scope/chunk_log.h"
#include "scope/connection.h"
#include "scope/session_socket.h"

static const uint64_t closed_ns = 1000000000;

void scope_clients_free(struct scope *scope)
{
	for (size_t i = 0; i < scope->client_count; i++)
		client_free(scope->clients[i]);
	scope->client_count = 0;
}

size_t scope_client_count(const struct scope *scope)
{
	size_t count = 0;

	for (size_t i = 0; i < scope->client_count; i++)
		count += client_phase(scope->clients[i]) == CLIENT_FOLLOWS ||
			 client_phase(scope->clients[i]) == CLIENT_WAITS;
	return count;
}

void scope_refuse(struct scope *scope, int fd)
{
	struct text words = { 0 };

	scope->counts.refused++;
	text_printf(&words, "pinch scope: %d clients are connected, and there is no space for more: try again later\n",
		    CLIENTS_MAX);
	if (!scope->tls)
		send(fd, words.bytes, words.length, MSG_NOSIGNAL | MSG_DONTWAIT);
	text_fini(&words);
	close(fd);
}

/* is_known: it is of this machine, and may have the trace. */
static void let_in(struct scope *scope, int fd, bool is_known, uint64_t now_ns)
{
	struct connection *connection;
	struct client *client;
	struct epoll_event event = { .events = EPOLLIN };

	address_bound_silence(fd);
	connection = connection_new(fd, is_known ? NULL : scope->tls);
	if (!connection)
		return;
	client = client_new(&scope->setting, connection, is_known, now_ns);
	event.data.ptr = client;
	if (epoll_ctl(scope->poll_fd, EPOLL_CTL_ADD, fd, &event)) {
		client_free(client);
		return;
	}
	scope->clients[scope->client_count++] = client;
}

/* Without descriptors nobody can be let in: who waits outside must not keep the engine busy. */
static void close_door(struct scope *scope, uint64_t now_ns)
{
	if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
		return;
	scope->closed_until_ns = now_ns + closed_ns;
	epoll_ctl(scope->poll_fd, EPOLL_CTL_DEL, scope->listen_fd, NULL);
	epoll_ctl(scope->poll_fd, EPOLL_CTL_DEL, scope->session_fd, NULL);
}

int scope_open_doors(struct scope *scope)
{
	const int doors[] = { scope->listen_fd, scope->session_fd };
	struct epoll_event event = { .events = EPOLLIN };

	for (size_t i = 0; i < sizeof(doors) / sizeof(*doors); i++)
		if (doors[i] >= 0 && epoll_ctl(scope->poll_fd, EPOLL_CTL_ADD, doors[i], &event))
			return -1;
	return 0;
}

static bool is_door_open(struct scope *scope, uint64_t now_ns)
{
	if (scope->setting.has_ended || now_ns < scope->closed_until_ns)
		return false;
	if (scope->closed_until_ns)
		scope_open_doors(scope);
	scope->closed_until_ns = 0;
	return true;
}

static void let_in_by(struct scope *scope, int door, bool is_known, uint64_t now_ns)
{
	int fd;

	while ((fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		if (is_known && !session_socket_is_trusted(fd))
			close(fd);
		else if (scope->client_count == CLIENTS_MAX)
			scope_refuse(scope, fd);
		else
			let_in(scope, fd, is_known, now_ns);
	close_door(scope, now_ns);
}

static void let_all_in(struct scope *scope, uint64_t now_ns)
{
	if (!is_door_open(scope, now_ns))
		return;
	if (scope->listen_fd >= 0)
		let_in_by(scope, scope->listen_fd, false, now_ns);
	if (scope->session_fd >= 0)
		let_in_by(scope, scope->session_fd, true, now_ns);
}

static void count(struct scope_counts *counts, const struct client *client)
{
	counts->clients += client_bytes(client) > 0;
	counts->bytes += client_bytes(client);
	counts->events_lost += client_lost(client);
}

static void step_clients(struct scope *scope, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < scope->client_count; i++) {
		struct client *client = scope->clients[i];
		struct epoll_event event = { .data.ptr = client };

		client_step(client, now_ns);
		if (client_phase(client) == CLIENT_GONE) {
			count(&scope->counts, client);
			client_free(client);
			continue;
		}
		event.events = client_events(client);
		epoll_ctl(scope->poll_fd, EPOLL_CTL_MOD, client_fd(client), &event);
		scope->clients[kept++] = client;
	}
	scope->client_count = kept;
}

int scope_accept(struct scope *scope)
{
	return accept4(scope->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int scope_take(struct scope *scope, int fd)
{
	close(scope->listen_fd);
	close(scope->poll_fd);
	scope->listen_fd = -1;
	scope->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (scope->poll_fd < 0)
		return fail(-errno, "cannot wait for a client");
	let_in(scope, fd, false, clock_ns());
	return 0;
}

bool scope_is_empty(const struct scope *scope)
{
	return !scope->client_count;
}

static uint64_t next_of_all(const struct scope *scope)
{
	uint64_t next = chunk_log_end(scope->log);

	for (size_t i = 0; i < scope->client_count; i++)
		if (client_next(scope->clients[i]) < next)
			next = client_next(scope->clients[i]);
	return next;
}

uint64_t scope_behind(const struct scope *scope)
{
	return chunk_log_end(scope->log) - next_of_all(scope);
}

/* What all clients have is not kept. */
static void trim(struct scope *scope)
{
	chunk_log_trim(scope->log, next_of_all(scope));
}

/* As long as nobody is there, that is all that happens. */
static bool is_idle(const struct scope *scope)
{
	struct epoll_event event;

	return !scope->client_count && !scope->closed_until_ns && epoll_wait(scope->poll_fd, &event, 1, 0) == 0;
}

void scope_step(struct scope *scope, uint64_t now_ns)
{
	scope->now_ns = now_ns;
	if (is_idle(scope))
		return;
	let_all_in(scope, now_ns);
	step_clients(scope, now_ns);
	trim(scope);
}

struct scope_counts scope_counts(const struct scope *scope)
{
	struct scope_counts counts = scope->counts;

	for (size_t i = 0; i < scope->client_count; i++)
		count(&counts, scope->clients[i]);
	return counts;
}
