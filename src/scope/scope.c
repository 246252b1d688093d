/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "scope/address.h"
#include "scope/address_socket.h"
#include "scope/chunk_log.h"
#include "scope/client.h"
#include "scope/connection.h"
#include "scope/tls.h"
#include "scope/token.h"
#include "trace/trace_pack.h"

enum {
	CLIENTS_MAX = 32,
	LOG_BYTES_MAX = 16 << 20, /* how far a client may be behind */
	FIRST_CHUNKS = 2,         /* forms and information */
	DRAIN_WAIT_MS = 100,
};

static const uint64_t end_period_ns = 1000000000;

struct first_chunk {
	struct trace_chunk head;
	void *stored; /* NULL: it has not come yet */
};

struct scope {
	struct address address;
	struct text name;
	struct tls *tls; /* NULL: without */
	char *token;     /* NULL: none is asked for */
	int listen_fd, poll_fd;
	struct chunk_log *log;
	struct trace_packer packer;
	struct first_chunk first[FIRST_CHUNKS];
	struct client_setting setting;
	struct recorder_stream stream;
	struct client *clients[CLIENTS_MAX];
	size_t client_count;
	bool is_beginning;          /* what comes is for those who wait */
	uint64_t ended_ns;          /* when traces were ended last */
	struct scope_counts counts; /* of clients that are gone */
};

/* --- What is recorded -------------------------------------------------------------------------- */

static bool is_heard(void *data)
{
	const struct scope *scope = data;

	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) == CLIENT_FOLLOWS)
			return true;
	return false;
}

static bool wants_beginning(void *data)
{
	const struct scope *scope = data;

	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) == CLIENT_WAITS)
			return true;
	return false;
}

static void begin(void *data, uint64_t time_ns)
{
	struct scope *scope = data;

	scope->is_beginning = true;
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) == CLIENT_WAITS)
			client_begin(scope->clients[i], time_ns);
}

/* Only for those who begin with it; at its end they go on with the others. */
static void put_beginning(struct scope *scope, const struct trace_chunk *chunk, const uint64_t *threads,
			  const void *stored)
{
	bool is_last = chunk->flags & TRACE_CHUNK_HAS_PROLOGUE;

	for (size_t i = 0; i < scope->client_count; i++) {
		if (client_phase(scope->clients[i]) != CLIENT_WAITS)
			continue;
		client_put_beginning(scope->clients[i], chunk, threads, stored);
		if (is_last)
			client_follow(scope->clients[i]);
	}
	scope->is_beginning = !is_last;
}

/* The first one of its kind is for all clients who come. */
static void keep_first(struct scope *scope, size_t i, const struct trace_chunk *chunk, const void *stored)
{
	struct first_chunk *first = &scope->first[i];

	if (first->stored)
		return;
	first->head = *chunk;
	first->stored = memcpy(xcalloc(1, chunk->stored_bytes + 1), stored, chunk->stored_bytes);
}

static void put(void *data, const struct trace_chunk *chunk, const uint64_t *threads, const void *stored)
{
	struct scope *scope = data;

	if (chunk->kind == TRACE_CHUNK_FORMS)
		keep_first(scope, 0, chunk, stored);
	if (chunk->kind == TRACE_CHUNK_INFO)
		keep_first(scope, 1, chunk, stored);
	if (scope->is_beginning && chunk->kind == TRACE_CHUNK_PROLOGUE)
		put_beginning(scope, chunk, threads, stored);
	else if (is_heard(scope))
		chunk_log_add(scope->log, chunk, threads, stored);
}

static void put_first(void *data, struct client *client)
{
	const struct scope *scope = data;

	for (size_t i = 0; i < FIRST_CHUNKS; i++)
		if (scope->first[i].stored)
			client_put(client, &scope->first[i].head, scope->first[i].stored);
}

const struct recorder_stream *scope_stream(struct scope *scope)
{
	return &scope->stream;
}

/* --- Life ------------------------------------------------------------------------------------- */

int scope_check(const struct scope_options *options)
{
	int secrets = !!options->certificate + !!options->key + !!options->token;
	struct address address;
	int err = address_parse(options->address, &address);

	if (err)
		return err;
	if (secrets && secrets < 3)
		return fail_plain(-EINVAL, "--tls-cert, --tls-key and --token need each other");
	if (secrets && address.kind == ADDRESS_UNIX)
		return fail_plain(-EINVAL, "a Unix socket needs no TLS: its mode keeps other users out");
	if (!secrets && address.kind == ADDRESS_TLS)
		return fail_plain(-EINVAL, "tls: needs --tls-cert, --tls-key and --token");
	return 0;
}

static int listen_there(struct scope *scope)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err = address_listen(&scope->address, scope->tls, &scope->listen_fd);

	if (err)
		return err;
	scope->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (scope->poll_fd < 0 || epoll_ctl(scope->poll_fd, EPOLL_CTL_ADD, scope->listen_fd, &event))
		return fail(-errno, "cannot wait for clients");
	return 0;
}

static int open_secrets(struct scope *scope, const struct scope_options *options)
{
	int err;

	if (!options->token)
		return 0;
	err = token_read(options->token, &scope->token);
	return err ? err : tls_open_server(options->certificate, options->key, &scope->tls);
}

static void name(struct scope *scope)
{
	const struct address *address = &scope->address;
	bool is_bracketed = strchr(address->host, ':');

	if (address->kind == ADDRESS_UNIX)
		text_printf(&scope->name, "unix:%s", address->host);
	else
		text_printf(&scope->name, "%s:%s%s%s:%s", scope->tls ? "tls" : "tcp", is_bracketed ? "[" : "",
			    address->host, is_bracketed ? "]" : "", address->port);
}

int scope_open(const struct scope_options *options, struct scope **out)
{
	struct scope *scope = xcalloc(1, sizeof(*scope));
	int err;

	scope->listen_fd = scope->poll_fd = -1;
	err = scope_check(options);
	if (!err)
		err = address_parse(options->address, &scope->address);
	if (!err)
		err = open_secrets(scope, options);
	if (!err)
		err = listen_there(scope);
	if (!err && trace_packer_init(&scope->packer))
		err = fail(-ENOMEM, "cannot compress");
	if (err) {
		scope_close(scope);
		return err;
	}
	scope->log = chunk_log_new(LOG_BYTES_MAX);
	scope->setting = (struct client_setting){
		.log = scope->log,
		.packer = &scope->packer,
		.token = scope->token,
		.put_first = put_first,
		.data = scope,
	};
	scope->stream = (struct recorder_stream){
		.sink = { put, scope },
		.is_heard = is_heard,
		.wants_beginning = wants_beginning,
		.begin = begin,
	};
	name(scope);
	*out = scope;
	return 0;
}

void scope_close(struct scope *scope)
{
	if (!scope)
		return;
	address_unlisten(&scope->address, scope->listen_fd);
	for (size_t i = 0; i < scope->client_count; i++)
		client_free(scope->clients[i]);
	if (scope->poll_fd >= 0)
		close(scope->poll_fd);
	for (size_t i = 0; i < FIRST_CHUNKS; i++)
		free(scope->first[i].stored);
	trace_packer_fini(&scope->packer);
	chunk_log_free(scope->log);
	tls_close(scope->tls);
	free(scope->token);
	text_fini(&scope->name);
	free(scope);
}

const char *scope_address(const struct scope *scope)
{
	return scope->name.bytes;
}

int scope_poll_fd(const struct scope *scope)
{
	return scope->poll_fd;
}

size_t scope_client_count(const struct scope *scope)
{
	size_t count = 0;

	for (size_t i = 0; i < scope->client_count; i++)
		count += client_phase(scope->clients[i]) == CLIENT_FOLLOWS ||
			 client_phase(scope->clients[i]) == CLIENT_WAITS;
	return count;
}

/* --- Clients ---------------------------------------------------------------------------------- */

static void refuse(struct scope *scope, int fd)
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

static void let_in(struct scope *scope, int fd, uint64_t now_ns)
{
	struct connection *connection;
	struct client *client;
	struct epoll_event event = { .events = EPOLLIN };

	address_bound_silence(fd);
	connection = connection_new(fd, scope->tls);
	if (!connection)
		return;
	client = client_new(&scope->setting, connection, now_ns);
	event.data.ptr = client;
	if (epoll_ctl(scope->poll_fd, EPOLL_CTL_ADD, fd, &event)) {
		client_free(client);
		return;
	}
	scope->clients[scope->client_count++] = client;
}

static void let_all_in(struct scope *scope, uint64_t now_ns)
{
	int fd;

	while (!scope->setting.has_ended &&
	       (fd = accept4(scope->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		if (scope->client_count == CLIENTS_MAX)
			refuse(scope, fd);
		else
			let_in(scope, fd, now_ns);
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

/* What all clients have is not kept. */
static void trim(struct scope *scope)
{
	uint64_t next = chunk_log_end(scope->log);

	for (size_t i = 0; i < scope->client_count; i++)
		if (client_next(scope->clients[i]) < next)
			next = client_next(scope->clients[i]);
	chunk_log_trim(scope->log, next);
}

void scope_step(struct scope *scope, uint64_t now_ns)
{
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

/* --- Ends ------------------------------------------------------------------------------------- */

struct receiver {
	struct scope *scope;
	struct client *client;
};

static void put_names(void *data, const void *names, size_t size_bytes)
{
	const struct receiver *receiver = data;
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_NAMES };
	const void *stored = trace_pack(&receiver->scope->packer, &chunk, names, size_bytes);

	client_put(receiver->client, &chunk, stored);
}

static void end_trace(struct scope *scope, struct client *client, const struct ev_header *end,
		      const struct scope_names *names, uint64_t now_ns)
{
	struct receiver receiver = { scope, client };

	client_end(client, end);
	names->give(names->data, client_begin_ns(client), put_names, &receiver);
	client_put(client, &scope->first[0].head, scope->first[0].stored);
	client_close(client, now_ns);
}

bool scope_wants_end(const struct scope *scope, uint64_t now_ns)
{
	if (now_ns - scope->ended_ns < end_period_ns)
		return false;
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_wants_end(scope->clients[i]))
			return true;
	return false;
}

void scope_end_traces(struct scope *scope, const struct ev_header *end, const struct scope_names *names,
		      uint64_t now_ns)
{
	scope->ended_ns = now_ns;
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_wants_end(scope->clients[i]))
			end_trace(scope, scope->clients[i], end, names, now_ns);
}

void scope_finish(struct scope *scope, const struct scope_names *names)
{
	struct epoll_event events[CLIENTS_MAX];
	uint64_t now_ns = clock_ns();

	scope->setting.has_ended = true;
	epoll_ctl(scope->poll_fd, EPOLL_CTL_DEL, scope->listen_fd, NULL);
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) != CLIENT_LEAVES && !client_is_ending(scope->clients[i]))
			end_trace(scope, scope->clients[i], NULL, names, now_ns);
	scope_step(scope, now_ns);
	while (scope->client_count) {
		epoll_wait(scope->poll_fd, events, CLIENTS_MAX, DRAIN_WAIT_MS);
		scope_step(scope, clock_ns());
	}
}
