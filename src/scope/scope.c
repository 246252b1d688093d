/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/scope_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "scope/chunk_log.h"
#include "scope/session_socket.h"
#include "scope/tls.h"
#include "scope/token.h"

enum {
	LOG_BYTES_MAX = 16 << 20, /* how far a client may be behind */
	DRAIN_WAIT_MS = 100,
};

/* From one look at who wants an end to the next; at the end, for all clients to take what is left. */
static const uint64_t end_period_ns = 1000000000, drain_ns_max = 60000000000;

int scope_check(const struct scope_options *options)
{
	int secrets = !!options->certificate + !!options->key + !!options->token;
	struct address address;
	int err;

	if (!options->address)
		return 0;
	err = address_parse(options->address, &address);
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

static int listen_there(struct scope *scope, const struct scope_options *options)
{
	int err = options->address ? address_listen(&scope->address, scope->tls, &scope->listen_fd) : 0;

	if (err)
		return err;
	if (options->is_session && session_socket_listen(&scope->session_fd))
		warn("pinch scope cannot find this session: it has no socket");
	scope->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	return scope->poll_fd < 0 || scope_open_doors(scope) ? fail(-errno, "cannot wait for clients") : 0;
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

	scope->listen_fd = scope->session_fd = scope->poll_fd = -1;
	err = scope_check(options);
	if (!err && options->address)
		err = address_parse(options->address, &scope->address);
	if (!err)
		err = open_secrets(scope, options);
	if (!err)
		err = listen_there(scope, options);
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
	};
	scope_stream_init(scope);
	if (options->address)
		name(scope);
	*out = scope;
	return 0;
}

static void close_doors(struct scope *scope)
{
	address_unlisten(&scope->address, scope->listen_fd);
	if (scope->session_fd >= 0)
		close(scope->session_fd);
	scope->listen_fd = scope->session_fd = -1;
}

void scope_close(struct scope *scope)
{
	if (!scope)
		return;
	close_doors(scope);
	scope_clients_free(scope);
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

const char *scope_host_port(const struct scope *scope)
{
	return !scope->name.length || scope->address.kind == ADDRESS_UNIX ? NULL : strchr(scope->name.bytes, ':') + 1;
}

int scope_poll_fd(const struct scope *scope)
{
	return scope->poll_fd;
}

/* --- Ends ------------------------------------------------------------------------------------- */

struct names_target {
	struct scope *scope;
	struct client *client;
};

static void put_names(void *data, const void *names, size_t size_bytes)
{
	const struct names_target *target = data;
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_NAMES };
	const void *stored = trace_pack(&target->scope->packer, &chunk, names, size_bytes);

	client_put(target->client, &chunk, stored);
}

static void end_trace(struct scope *scope, struct client *client, const struct ev_header *end,
		      const struct scope_names *names, uint64_t now_ns)
{
	struct names_target target = { scope, client };

	client_end(client, end);
	names->give(names->data, client_begin_ns(client), put_names, &target);
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
	uint64_t now_ns = clock_ns(), limit_ns = now_ns + drain_ns_max;

	scope->setting.has_ended = true;
	close_doors(scope);
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) != CLIENT_LEAVES && !client_is_ending(scope->clients[i]))
			end_trace(scope, scope->clients[i], NULL, names, now_ns);
	scope_step(scope, now_ns);
	while (scope->client_count && clock_ns() < limit_ns) {
		epoll_wait(scope->poll_fd, events, CLIENTS_MAX, DRAIN_WAIT_MS);
		scope_step(scope, clock_ns());
	}
}
