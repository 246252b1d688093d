/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/accept_queues.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"

enum { QUEUES_MAX = 4096 };

/* All processes are looked at within same_look_ns, in one order: who told first tells first again, unless it has ended. */
static const uint64_t same_look_ns = 20000000, retry_ns = 200000000;

struct accept_queues {
	struct arena *arena;
	struct table *by_file;
};

static void begin_look(struct accept_queue *queue, const struct ev_file_listener *e)
{
	uint64_t time_ns = e->header.time_ns - queue->look_ns;
	uint32_t drops = e->drops - queue->drops_before;

	if (queue->looks && drops) {
		queue->drops += drops;
		queue->dropping_ns += time_ns < retry_ns ? time_ns : retry_ns;
	}
	queue->drops_before = e->drops;
	queue->look_ns = e->header.time_ns;
	queue->look_pid = e->pid;
	queue->look_processes = 0;
	queue->capacity = e->capacity;
	queue->looks++;
	queue->waiting_looks += e->waiting > 0;
	queue->full_looks += e->waiting >= e->capacity;
	queue->waiting_sum += e->waiting;
	if (e->waiting > queue->waiting_max)
		queue->waiting_max = e->waiting;
}

static void on_listener(void *data, const struct ev_header *header)
{
	const struct ev_file_listener *e = (const struct ev_file_listener *)header;
	struct accept_queues *queues = data;
	struct accept_queue *queue = table_find(queues->by_file, e->file);

	if (!e->file || !e->capacity || (!queue && table_count(queues->by_file) >= QUEUES_MAX))
		return;
	if (!queue) {
		queue = arena_alloc(queues->arena, sizeof(*queue));
		queue->file = e->file;
		queue->pid = e->pid;
		table_put(queues->by_file, e->file, queue);
	}
	if (!queue->looks || e->pid == queue->look_pid || header->time_ns > queue->look_ns + same_look_ns)
		begin_look(queue, e);
	if (++queue->look_processes > queue->processes)
		queue->processes = queue->look_processes;
}

static const struct event_handler handlers[] = {
	{ EV_FILE_LISTENER, on_listener },
	{ 0 },
};

struct accept_queues *accept_queues_new(struct session *session)
{
	struct accept_queues *queues = xcalloc(1, sizeof(*queues));

	queues->arena = arena_new();
	queues->by_file = table_new();
	session_subscribe(session, handlers, queues);
	return queues;
}

void accept_queues_free(struct accept_queues *queues)
{
	if (!queues)
		return;
	table_free(queues->by_file);
	arena_free(queues->arena);
	free(queues);
}

const struct accept_queue *accept_queues_next(const struct accept_queues *queues, size_t *cursor)
{
	return table_next(queues->by_file, cursor);
}
