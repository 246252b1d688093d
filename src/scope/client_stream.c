/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace of a client: how it begins, goes on, has gaps and ends. */
#include "scope/client_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scope/chunk_log.h"
#include "trace/event_code.h"
#include "trace/trace_pack.h"

/* A chunk with this event alone goes where put() puts it. */
static void put_event(struct client *client, const struct ev_header *header,
		      void (*put)(struct client *client, const struct trace_chunk *chunk, const void *stored))
{
	struct event_encoder *encoder = event_encoder_new();
	struct trace_chunk chunk = { .first_ns = header->time_ns, .last_ns = header->time_ns, .count = 1 };
	const void *bytes;
	size_t size_bytes;

	event_encoder_add(encoder, header);
	bytes = event_encoder_bytes(encoder, &size_bytes);
	bytes = trace_pack(client->setting->packer, &chunk, bytes, size_bytes);
	chunk.kind = TRACE_CHUNK_EVENTS;
	put(client, &chunk, bytes);
	event_encoder_free(encoder);
}

static void put_now(struct client *client, const struct trace_chunk *chunk, const void *stored)
{
	client_trace_put(&client->trace, chunk, chunk->kind, 0, NULL, stored);
}

/* Behind the last event. */
static void put_last(struct client *client, const struct trace_chunk *chunk, const void *stored)
{
	struct last_chunk *last;

	ARRAY_GROW(client->last, client->last_count, client->last_capacity, 4);
	last = &client->last[client->last_count++];
	last->head = *chunk;
	last->stored = memcpy(xcalloc(1, chunk->stored_bytes + 1), stored, chunk->stored_bytes);
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
	put_event(client, &gap.header, put_now);
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
	(client->is_ending ? put_last : put_now)(client, chunk, stored);
}

void client_end(struct client *client, const struct ev_header *end)
{
	client->is_ending = true;
	if (end)
		put_event(client, end, put_last);
}

void client_close(struct client *client, uint64_t now_ns)
{
	const struct chunk_log *log = client->setting->log;

	client->stop = chunk_log_end(log);
	client->stop_event_count = chunk_log_events(log);
	if (client->stop > chunk_log_first(log))
		client->stop_ns = chunk_log_get(log, client->stop - 1)->head.last_ns;
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

/* What is to be sent next is not in the log any more. Where the end is known there is no other beginning. */
static void lose(struct client *client)
{
	const struct chunk_log *log = client->setting->log;
	const struct logged_chunk *first;

	if (client->stop == UINT64_MAX) {
		client->phase = CLIENT_WAITS;
	} else if (client->stop <= chunk_log_first(log)) {
		client->next = client->stop;
		put_gap(client, client->stop_ns, client->stop_event_count);
	} else {
		client->next = chunk_log_first(log);
		first = chunk_log_get(log, client->next);
		put_gap(client, first->head.first_ns, first->events_before);
	}
}

bool client_make_more(struct client *client, uint64_t now_ns)
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
