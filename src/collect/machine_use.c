/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/machine_use.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/process_use.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "symbol/symbol.h"

/* SAID: events of a kind; SAID_BYTES, SAID_CPU_NS: what is less is not told. */
enum { TRACED_MAX = 65536, SAID_MAX = 8, SAID_BYTES = 1 << 20, SAID_CPU_NS = 20000000 };

struct list {
	struct process_use rows[PROCESS_USE_MAX];
	size_t count;
};

struct machine_use {
	struct session *session;
	struct symbols *symbols;
	struct table *traced; /* this struct itself, by pid + 1 */
	struct list *begin;   /* NULL: it was not read */
};

static void add_traced(struct machine_use *use, uint32_t pid, uint32_t thread)
{
	if (thread_is_traced(thread) && table_count(use->traced) < TRACED_MAX)
		table_put(use->traced, (uint64_t)pid + 1, use);
}

static void on_born(void *data, const struct ev_header *header)
{
	add_traced(data, ((const struct ev_thread_born *)header)->pid, header->thread);
}

static void on_found(void *data, const struct ev_header *header)
{
	add_traced(data, ((const struct ev_thread_found *)header)->pid, header->thread);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ 0 },
};

struct machine_use *machine_use_new(struct session *session, struct symbols *symbols)
{
	struct machine_use *use = xcalloc(1, sizeof(*use));

	use->session = session;
	use->symbols = symbols;
	use->traced = table_new();
	session_subscribe(session, handlers, use);
	return use;
}

void machine_use_free(struct machine_use *use)
{
	if (!use)
		return;
	table_free(use->traced);
	free(use->begin);
	free(use);
}

/* --- The difference ------------------------------------------------------------------------------- */

static void add_row(void *data, const struct process_use *use)
{
	struct list *list = data;

	if (list->count < PROCESS_USE_MAX)
		list->rows[list->count++] = *use;
}

/* NULL: it cannot be read. The caller frees it. */
static struct list *read_list(struct machine_use *use)
{
	struct list *list = xcalloc(1, sizeof(*list));

	if (!symbols_read_use(use->symbols, add_row, list))
		return list;
	free(list);
	return NULL;
}

void machine_use_begin(struct machine_use *use)
{
	use->begin = read_list(use);
}

static bool is_older(const struct process_use *a, const struct process_use *b)
{
	return a->pid == b->pid && a->read_bytes <= b->read_bytes && a->write_bytes <= b->write_bytes &&
	       a->call_bytes <= b->call_bytes && a->cpu_ns <= b->cpu_ns;
}

/*
 * An id with a smaller counter than before is another process's. Kernels count a whole large folio each time that a few bytes of it
 * are written, so no more counts than calls were given; what is written to mapped files does not count, then.
 */
static void subtract(const struct list *begin, struct process_use *row)
{
	for (size_t i = 0; i < begin->count; i++) {
		const struct process_use *before = &begin->rows[i];

		if (!is_older(before, row))
			continue;
		row->read_bytes -= before->read_bytes;
		row->write_bytes -= before->write_bytes;
		row->call_bytes -= before->call_bytes;
		row->cpu_ns -= before->cpu_ns;
		break;
	}
	if (row->write_bytes > row->call_bytes)
		row->write_bytes = row->call_bytes;
}

static uint64_t bytes_of(const struct process_use *row)
{
	return row->read_bytes + row->write_bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct process_use *x = a, *y = b;

	if (bytes_of(x) != bytes_of(y))
		return bytes_of(x) < bytes_of(y) ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_cpu_time(const void *a, const void *b)
{
	const struct process_use *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void say_storage(struct machine_use *use, const struct process_use *row)
{
	struct ev_resource_storage e = {
		.header = { .time_ns = session_time_ns(use->session),
			    .subsys = TRACE_SUBSYS_RESOURCE,
			    .event = TRACE_EVENT_RESOURCE_STORAGE },
		.pid = row->pid,
		.read_bytes = row->read_bytes,
		.write_bytes = row->write_bytes,
	};

	memcpy(e.name, row->name, sizeof(e.name));
	session_hand_out(use->session, &e.header);
}

static void say_cpu_time(struct machine_use *use, const struct process_use *row)
{
	struct ev_resource_cpu_time e = {
		.header = { .time_ns = session_time_ns(use->session),
			    .subsys = TRACE_SUBSYS_RESOURCE,
			    .event = TRACE_EVENT_RESOURCE_CPU_TIME },
		.pid = row->pid,
		.cpu_ns = row->cpu_ns,
	};

	memcpy(e.name, row->name, sizeof(e.name));
	session_hand_out(use->session, &e.header);
}

/* Of those that are not traced, whose own counters are 0 by now. */
static void say_most(struct machine_use *use, struct list *list)
{
	if (!list->count)
		return;
	qsort(list->rows, list->count, sizeof(*list->rows), by_bytes);
	for (size_t i = 0; i < list->count && i < SAID_MAX && bytes_of(&list->rows[i]) >= SAID_BYTES; i++)
		say_storage(use, &list->rows[i]);
	qsort(list->rows, list->count, sizeof(*list->rows), by_cpu_time);
	for (size_t i = 0; i < list->count && i < SAID_MAX && list->rows[i].cpu_ns >= SAID_CPU_NS; i++)
		say_cpu_time(use, &list->rows[i]);
}

void machine_use_finish(struct machine_use *use)
{
	struct process_use traced = { 0 };
	struct list *end = use->begin ? read_list(use) : NULL;

	if (!end)
		return;
	for (size_t i = 0; i < end->count; i++) {
		struct process_use *row = &end->rows[i];

		subtract(use->begin, row);
		if (!table_find(use->traced, (uint64_t)row->pid + 1))
			continue;
		traced.read_bytes += row->read_bytes;
		traced.write_bytes += row->write_bytes;
		row->read_bytes = row->write_bytes = row->cpu_ns = 0;
	}
	say_storage(use, &traced);
	say_most(use, end);
	free(end);
}
