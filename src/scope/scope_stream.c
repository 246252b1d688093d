/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the recorder's chunks go: to those who begin, or into the log for all who follow. */
#include "scope/scope_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scope/chunk_log.h"

static const uint64_t begin_period_ns = 50000000;

static bool is_heard(void *data)
{
	const struct scope *scope = data;

	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) == CLIENT_FOLLOWS)
			return true;
	return false;
}

/* All who come within a moment get the same one: it costs more the more threads live. */
static bool wants_beginning(void *data)
{
	const struct scope *scope = data;

	if (scope->begun_ns && scope->now_ns - scope->begun_ns < begin_period_ns)
		return false;
	for (size_t i = 0; i < scope->client_count; i++)
		if (client_phase(scope->clients[i]) == CLIENT_WAITS)
			return true;
	return false;
}

static void begin(void *data, uint64_t time_ns)
{
	struct scope *scope = data;

	scope->is_beginning = true;
	scope->begun_ns = scope->now_ns;
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

void scope_stream_init(struct scope *scope)
{
	scope->setting.put_first = put_first;
	scope->setting.data = scope;
	scope->stream = (struct recorder_stream){
		.sink = { put, scope },
		.is_heard = is_heard,
		.wants_beginning = wants_beginning,
		.begin = begin,
	};
}

bool scope_begin_traces(struct scope *scope, uint64_t time_ns)
{
	bool has_begun = false;

	for (size_t i = 0; i < scope->client_count; i++) {
		if (client_phase(scope->clients[i]) != CLIENT_WAITS)
			continue;
		client_begin(scope->clients[i], time_ns);
		client_follow(scope->clients[i]);
		has_begun = true;
	}
	return has_begun;
}

void scope_hurry(struct scope *scope)
{
	scope->begun_ns = 0;
}

const struct recorder_stream *scope_stream(struct scope *scope)
{
	return &scope->stream;
}
