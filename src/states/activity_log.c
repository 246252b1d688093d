/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "session/session.h"
#include "states/activity.h"
#include "trace/trace_writer.h"

enum {
	ACTIVITIES = 1 << 14,   /* of a chunk */
	REQUESTS_MAX = 1 << 16, /* under way */
	NAME_BYTES = 24,
};

struct request {
	struct activity activity;
	uint64_t name;
};

struct activity_log {
	struct trace_writer *writer;
	struct table *requests; /* by name; each is the heap's */
	struct table *names;    /* of interrupts, by number plus 1; of the arena */
	struct arena *arena;
	struct text bytes, name_bytes;
	struct trace_span span;
	uint64_t before_ns; /* the end of the one before */
};

static void end_chunk(struct activity_log *log)
{
	if (!log->span.count)
		return;
	trace_writer_chunk(log->writer, TRACE_CHUNK_ACTIVITIES, log->bytes.bytes, log->bytes.length, &log->span);
	log->bytes.length = 0;
	log->span = (struct trace_span){ 0 };
}

static void add(struct activity_log *log, const struct activity *activity)
{
	/* What came late keeps the order. */
	uint64_t end_ns = activity->end_ns > log->before_ns ? activity->end_ns : log->before_ns;

	if (!log->span.count || activity->begin_ns < log->span.first_ns)
		log->span.first_ns = activity->begin_ns;
	if (!log->span.count)
		text_put_varint(&log->bytes, end_ns);
	else
		text_put_varint(&log->bytes, end_ns - log->before_ns);
	text_put_varint(&log->bytes, activity->begin_ns < end_ns ? end_ns - activity->begin_ns : 0);
	text_put_varint(&log->bytes, activity->kind);
	text_put_varint(&log->bytes, activity->operation);
	text_put_varint(&log->bytes, activity->resource);
	text_put_varint(&log->bytes, activity->thread);
	text_put_varint(&log->bytes, activity->tid);
	text_put_varint(&log->bytes, activity->detail);
	log->span.last_ns = log->before_ns = end_ns;
	if (++log->span.count == ACTIVITIES)
		end_chunk(log);
}

static void note_name(struct activity_log *log, uint32_t number, const char *name)
{
	char key[NAME_BYTES + 1] = "";

	memcpy(key, name, NAME_BYTES);
	if (!*key || table_find(log->names, (uint64_t)number + 1))
		return;
	table_put(log->names, (uint64_t)number + 1, arena_strdup(log->arena, key));
	text_put_varint(&log->name_bytes, number);
	text_put_bytes(&log->name_bytes, key, strlen(key) + 1);
}

static void on_interrupt(void *data, const struct ev_header *header)
{
	const struct ev_system_interrupt *e = (const struct ev_system_interrupt *)header;
	struct activity_log *log = data;

	note_name(log, e->irq, e->name);
	add(log, &(struct activity){
			 .begin_ns = e->begin_ns,
			 .end_ns = header->time_ns,
			 .resource = e->cpu,
			 .thread = header->thread,
			 .detail = e->irq,
			 .kind = ACTIVITY_INTERRUPT,
		 });
}

static void on_softirq(void *data, const struct ev_header *header)
{
	const struct ev_system_softirq *e = (const struct ev_system_softirq *)header;

	add(data, &(struct activity){
			  .begin_ns = e->begin_ns,
			  .end_ns = header->time_ns,
			  .resource = e->cpu,
			  .thread = header->thread,
			  .detail = e->vector,
			  .kind = ACTIVITY_SOFTIRQ,
		  });
}

static void on_issue(void *data, const struct ev_header *header)
{
	const struct ev_system_block_issue *e = (const struct ev_system_block_issue *)header;
	struct activity_log *log = data;
	struct request *request = table_find(log->requests, e->request);

	if (!request) {
		if (table_count(log->requests) >= REQUESTS_MAX)
			return;
		request = xcalloc(1, sizeof(*request));
		request->name = e->request;
		table_put(log->requests, e->request, request);
	}
	request->activity = (struct activity){
		.begin_ns = header->time_ns,
		.resource = e->device,
		.thread = header->thread,
		.tid = e->tid,
		.detail = e->bytes,
		.kind = ACTIVITY_DISK,
		.operation = e->operation,
	};
}

static void on_complete(void *data, const struct ev_header *header)
{
	const struct ev_system_block_complete *e = (const struct ev_system_block_complete *)header;
	struct activity_log *log = data;
	struct request *request = e->is_last ? table_take(log->requests, e->request) : NULL;

	if (!request)
		return;
	request->activity.end_ns = header->time_ns;
	add(log, &request->activity);
	free(request);
}

static const struct event_handler handlers[] = {
	{ EV_SYSTEM_INTERRUPT, on_interrupt },
	{ EV_SYSTEM_SOFTIRQ, on_softirq },
	{ EV_SYSTEM_BLOCK_ISSUE, on_issue },
	{ EV_SYSTEM_BLOCK_COMPLETE, on_complete },
	{ 0, NULL },
};

struct activity_log *activity_log_new(struct session *session, struct trace_writer *writer)
{
	struct activity_log *log = xcalloc(1, sizeof(*log));

	log->writer = writer;
	log->requests = table_new();
	log->names = table_new();
	log->arena = arena_new();
	session_subscribe(session, handlers, log);
	return log;
}

static void put_names(struct activity_log *log)
{
	if (log->name_bytes.length)
		trace_writer_chunk(log->writer, TRACE_CHUNK_ACTIVITY_NAMES, log->name_bytes.bytes,
				   log->name_bytes.length, NULL);
	log->name_bytes.length = 0;
}

void activity_log_flush(struct activity_log *log)
{
	end_chunk(log);
	put_names(log);
}

void activity_log_finish(struct activity_log *log, uint64_t end_ns)
{
	struct request *request;
	size_t cursor = 0;

	while ((request = table_next(log->requests, &cursor))) {
		request->activity.end_ns = end_ns;
		add(log, &request->activity);
	}
	end_chunk(log);
	put_names(log);
}

void activity_log_free(struct activity_log *log)
{
	struct request *request;
	size_t cursor = 0;

	if (!log)
		return;
	while ((request = table_next(log->requests, &cursor)))
		free(request);
	table_free(log->requests);
	table_free(log->names);
	arena_free(log->arena);
	text_fini(&log->bytes);
	text_fini(&log->name_bytes);
	free(log);
}
