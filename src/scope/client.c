/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/client_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/memory.h"
#include "scope/chunk_log.h"
#include "scope/connection.h"
#include "scope/token.h"

enum {
	READ_BYTES = 4096,            /* at a time, of what it sends */
	SENT_AT_ONCE_BYTES = 8 << 20, /* then others have their turn */
};

/* To show a token, and to close when all was sent. */
static const uint64_t greet_ns_max = 10000000000, close_ns_max = 2000000000;

struct client *client_new(const struct client_setting *setting, struct connection *connection, bool is_known,
			  uint64_t now_ns)
{
	struct client *client = xcalloc(1, sizeof(*client));

	client->setting = setting;
	client->connection = connection;
	client->is_known = is_known || !setting->token;
	client->stop = UINT64_MAX;
	client->deadline_ns = now_ns + greet_ns_max;
	return client;
}

void client_free(struct client *client)
{
	if (!client)
		return;
	for (size_t i = 0; i < client->last_count; i++)
		free(client->last[i].stored);
	free(client->last);
	client_trace_fini(&client->trace);
	connection_free(client->connection);
	free(client);
}

enum client_phase client_phase(const struct client *client)
{
	return client->phase;
}

int client_fd(const struct client *client)
{
	return connection_fd(client->connection);
}

bool client_wants_end(const struct client *client)
{
	return client->wants_end && !client->is_ending && client->phase == CLIENT_FOLLOWS;
}

bool client_is_ending(const struct client *client)
{
	return client->is_ending;
}

uint64_t client_begin_ns(const struct client *client)
{
	return client->begin_ns;
}

uint64_t client_deadline_ns(const struct client *client)
{
	return client->phase == CLIENT_GREETS || client->phase == CLIENT_LEAVES || client->setting->has_ended
		       ? client->deadline_ns
		       : 0;
}

uint64_t client_bytes(const struct client *client)
{
	return client->sent_bytes;
}

uint64_t client_lost(const struct client *client)
{
	return client->lost_count;
}

uint64_t client_next(const struct client *client)
{
	return client->phase == CLIENT_FOLLOWS ? client->next : UINT64_MAX;
}

/* --- Its connection --------------------------------------------------------------------------- */

static void go(struct client *client)
{
	client->phase = CLIENT_GONE;
}

/* Its trace begins with what does not change. */
static void welcome(struct client *client)
{
	client_trace_begin(&client->trace);
	client->setting->put_first(client->setting->data, client);
	client->phase = CLIENT_WAITS;
}

/* One line, and the connection ends. */
static void refuse(struct client *client)
{
	static const char words[] = "pinch scope: wrong token: give the same to --token as the scope has\n";

	connection_send(client->connection, words, sizeof(words) - 1);
	connection_end(client->connection);
	go(client);
}

static void take_line(struct client *client, const char *line)
{
	const char *token = client->setting->token;

	if (client->phase == CLIENT_GREETS) {
		if (!strncmp(line, TOKEN_WORD, strlen(TOKEN_WORD)) && token_is(token, line + strlen(TOKEN_WORD)))
			welcome(client);
		else
			refuse(client);
	} else if (!strcmp(line, "end")) {
		client->wants_end = true;
	}
}

static void take_bytes(struct client *client, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && client->phase != CLIENT_GONE; i++) {
		if (bytes[i] != '\n') {
			if (client->line_length < LINE_BYTES - 1)
				client->line[client->line_length++] = bytes[i];
			continue;
		}
		client->line[client->line_length] = '\0';
		client->line_length = 0;
		take_line(client, client->line);
	}
}

static bool has_taken_all(const struct client *client)
{
	size_t size_bytes;

	return client->phase == CLIENT_LEAVES && !client_trace_bytes(&client->trace, &size_bytes);
}

/* One that has sent all it had still gets its trace. */
static void receive(struct client *client)
{
	char bytes[READ_BYTES];
	ssize_t n;

	if (client->is_deaf) {
		if (connection_is_broken(client->connection))
			go(client);
		return;
	}
	n = connection_receive(client->connection, bytes, sizeof(bytes));
	if (n == -EAGAIN)
		return;
	if (n > 0) {
		take_bytes(client, bytes, n);
		return;
	}
	client->is_deaf = true;
	if (n < 0 || client->phase == CLIENT_GREETS || has_taken_all(client))
		go(client);
}

static void take_sent(struct client *client, size_t size_bytes, uint64_t now_ns)
{
	client_trace_take(&client->trace, size_bytes);
	client->sent_bytes += size_bytes;
	client->deadline_ns = now_ns + leave_ns_max;
	if (has_taken_all(client)) {
		connection_end(client->connection);
		client->deadline_ns = now_ns + close_ns_max;
		if (client->is_deaf)
			go(client);
	}
}

static void send_what_fits(struct client *client, uint64_t now_ns)
{
	size_t size_bytes, sent = 0;
	const void *bytes;
	ssize_t n;

	while (sent < SENT_AT_ONCE_BYTES && client->phase != CLIENT_GONE) {
		bytes = client_trace_bytes(&client->trace, &size_bytes);
		if (!bytes) {
			if (!client_make_more(client, now_ns))
				return;
			continue;
		}
		n = connection_send(client->connection, bytes, size_bytes);
		if (n == -EAGAIN)
			return;
		if (n < 0) {
			go(client);
			return;
		}
		take_sent(client, n, now_ns);
		sent += n;
	}
}

static void greet(struct client *client)
{
	int err = client->is_greeted ? 0 : connection_greet(client->connection);

	if (err && err != -EAGAIN)
		go(client);
	client->is_greeted = !err;
	if (client->is_greeted && client->is_known)
		welcome(client);
}

void client_step(struct client *client, uint64_t now_ns)
{
	uint64_t deadline_ns;

	if (client->phase == CLIENT_GREETS)
		greet(client);
	if (client->is_greeted && client->phase != CLIENT_GONE)
		receive(client);
	if (client->phase != CLIENT_GREETS && client->phase != CLIENT_GONE)
		send_what_fits(client, now_ns);
	deadline_ns = client_deadline_ns(client);
	if (deadline_ns && now_ns > deadline_ns)
		go(client);
}

uint32_t client_events(const struct client *client)
{
	size_t size_bytes;
	bool has_bytes = client_trace_bytes(&client->trace, &size_bytes);

	if (client->phase == CLIENT_GREETS)
		return !client->is_greeted && connection_wants_space(client->connection) ? EPOLLOUT : EPOLLIN;
	return (client->is_deaf ? 0 : EPOLLIN) | (has_bytes ? EPOLLOUT : 0);
}
