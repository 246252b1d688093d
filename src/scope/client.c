/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/memory.h"
#include "scope/chunk_log.h"
#include "scope/client_trace.h"
#include "scope/connection.h"
#include "scope/token.h"
#include "trace/event_code.h"
#include "trace/trace_pack.h"

enum {
	LINE_BYTES = 512,             /* of what it sends; longer lines are not ours */
	READ_BYTES = 4096,            /* at a time, of what it sends */
	SENT_AT_ONCE_BYTES = 8 << 20, /* then others have their turn */
};

/* To show a token; to take something; to close when all was sent. */
static const uint64_t greet_ns_max = 10000000000, leave_ns_max = 10000000000, close_ns_max = 2000000000;

/* What comes behind the last event. */
struct last_chunk {
	struct trace_chunk head;
	void *stored;
};

struct client {
	const struct client_setting *setting;
	struct connection *connection;
	enum client_phase phase;
	bool is_greeted; /* keys are agreed on */
	bool has_begun;  /* it had a beginning */
	bool wants_end;  /* it asked for it */
	bool is_ending;  /* client_end() */
	bool is_deaf;    /* it sends nothing any more */
	struct client_trace trace;
	uint64_t next, stop;  /* in the log; stop: where its trace ends */
	uint64_t event_count; /* of the log: those it got, and those it knows that it lost */
	uint64_t lost_count;
	uint64_t begin_ns, deadline_ns;
	uint64_t sent_bytes;
	struct last_chunk *last;
	size_t last_count, last_capacity;
	char line[LINE_BYTES];
	size_t line_length;
};

struct client *client_new(const struct client_setting *setting, struct connection *connection, uint64_t now_ns)
{
	struct client *client = xcalloc(1, sizeof(*client));

	client->setting = setting;
	client->connection = connection;
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

/* --- Its trace ------------------------------------------------------------------------------- */

/* A chunk with this event alone. */
static void put_event(struct client *client, const struct ev_header *header)
{
	struct event_encoder *encoder = event_encoder_new();
	struct trace_chunk chunk = { .first_ns = header->time_ns, .last_ns = header->time_ns, .count = 1 };
	const void *bytes;
	size_t size_bytes;

	event_encoder_add(encoder, header);
	bytes = event_encoder_bytes(encoder, &size_bytes);
	bytes = trace_pack(client->setting->packer, &chunk, bytes, size_bytes);
	chunk.kind = TRACE_CHUNK_EVENTS;
	client_put(client, &chunk, bytes);
	event_encoder_free(encoder);
}

/* Events up to this number of all were lost to it. */
static void put_gap(struct client *client, uint64_t time_ns, uint64_t event_count)
{
	struct ev_collect_gap gap = {
		.header = { .time_ns = time_ns, .subsys = EV_COLLECT_GAP >> 16, .event = EV_COLLECT_GAP & 0xffff },
		.lost = event_count - client->event_count,
		.cpu = UINT32_MAX,
	};

	client->lost_count += gap.lost;
	client->event_count = event_count;
	client->begin_ns = UINT64_MAX;
	put_event(client, &gap.header);
}

void client_begin(struct client *client, uint64_t time_ns)
{
	if (client->has_begun)
		put_gap(client, time_ns, chunk_log_events(client->setting->log));
	else
		client->begin_ns = time_ns;
}

/* In the middle of a trace it is what happens: the state after a loss. */
void client_put_beginning(struct client *client, const struct trace_chunk *chunk, const uint64_t *threads,
			  const void *stored)
{
	client_trace_put(&client->trace, chunk, client->has_begun ? TRACE_CHUNK_EVENTS : TRACE_CHUNK_PROLOGUE,
			 client->has_begun ? 0 : chunk->flags, threads, stored);
}

void client_follow(struct client *client)
{
	client->has_begun = true;
	client->phase = CLIENT_FOLLOWS;
	client->next = chunk_log_end(client->setting->log);
	client->event_count = chunk_log_events(client->setting->log);
}

void client_put(struct client *client, const struct trace_chunk *chunk, const void *stored)
{
	struct last_chunk *last;

	if (!client->is_ending) {
		client_trace_put(&client->trace, chunk, chunk->kind, 0, NULL, stored);
		return;
	}
	ARRAY_GROW(client->last, client->last_count, client->last_capacity, 4);
	last = &client->last[client->last_count++];
	last->head = *chunk;
	last->stored = memcpy(xcalloc(1, chunk->stored_bytes + 1), stored, chunk->stored_bytes);
}

void client_end(struct client *client, const struct ev_header *end)
{
	client->is_ending = true;
	if (end)
		put_event(client, end);
}

void client_close(struct client *client, uint64_t now_ns)
{
	client->stop = chunk_log_end(client->setting->log);
	client->deadline_ns = now_ns + leave_ns_max;
	if (client->phase == CLIENT_FOLLOWS)
		return;
	client->phase = client->phase == CLIENT_WAITS ? CLIENT_FOLLOWS : CLIENT_GONE;
	client->next = client->stop;
}

/* All that its trace ends with. */
static void put_end(struct client *client, uint64_t now_ns)
{
	client->phase = CLIENT_LEAVES;
	client->deadline_ns = now_ns + leave_ns_max;
	for (size_t i = 0; i < client->last_count; i++)
		client_trace_put(&client->trace, &client->last[i].head, client->last[i].head.kind, 0, NULL,
				 client->last[i].stored);
	client_trace_end(&client->trace);
}

/* What is to be sent next is not in the log any more. Without more to come there is no beginning either. */
static void lose(struct client *client)
{
	const struct chunk_log *log = client->setting->log;
	const struct logged_chunk *first;

	if (client->stop == UINT64_MAX && !client->setting->has_ended) {
		client->phase = CLIENT_WAITS;
		return;
	}
	client->next = chunk_log_first(log);
	if (client->next > client->stop)
		client->next = client->stop;
	if (client->next == chunk_log_end(log))
		return;
	first = chunk_log_get(log, client->next);
	put_gap(client, first->head.first_ns, first->events_before);
}

/* Makes more to be sent. False: there is nothing for now. */
static bool make_more(struct client *client, uint64_t now_ns)
{
	const struct chunk_log *log = client->setting->log;
	const struct logged_chunk *chunk;

	if (client->phase != CLIENT_FOLLOWS)
		return false;
	if (client->next < chunk_log_first(log) && client->next < client->stop) {
		lose(client);
		return client->phase == CLIENT_FOLLOWS;
	}
	if (client->next == client->stop) {
		put_end(client, now_ns);
		return true;
	}
	if (client->next == chunk_log_end(log))
		return false;
	chunk = chunk_log_get(log, client->next++);
	client_trace_put(&client->trace, &chunk->head, chunk->head.kind, 0, chunk->threads, chunk->stored);
	client->event_count += chunk->head.kind == TRACE_CHUNK_EVENTS ? chunk->head.count : 0;
	return true;
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

	if (client->phase == CLIENT_GREETS && token) {
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

/* One that has sent all it had still gets its trace; it is known to be gone when nothing can be sent. */
static void receive(struct client *client)
{
	char bytes[READ_BYTES];
	ssize_t n;

	if (client->is_deaf)
		return;
	n = connection_receive(client->connection, bytes, sizeof(bytes));
	if (n == -EAGAIN)
		return;
	if (n > 0) {
		take_bytes(client, bytes, n);
		return;
	}
	client->is_deaf = true;
	if (n < 0 || client->phase == CLIENT_GREETS || client->phase == CLIENT_LEAVES)
		go(client);
}

static void take_sent(struct client *client, size_t size_bytes, uint64_t now_ns)
{
	client_trace_take(&client->trace, size_bytes);
	client->sent_bytes += size_bytes;
	client->deadline_ns = now_ns + leave_ns_max;
	if (client->phase == CLIENT_LEAVES && !client_trace_bytes(&client->trace, &size_bytes)) {
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
			if (!make_more(client, now_ns))
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
	if (client->is_greeted && !client->setting->token)
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
