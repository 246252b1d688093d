/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/storage_use.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/process_storage.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "symbol/symbol.h"

/* SAID: events; SAID_BYTES: what is less is not told. */
enum { TRACED_MAX = 65536, SAID_MAX = 8, SAID_BYTES = 1 << 20 };

struct list {
	struct process_storage rows[PROCESS_STORAGE_MAX];
	size_t count;
};

struct storage_use {
	struct session *session;
	struct symbols *symbols;
	struct table *traced; /* this struct itself, by pid + 1 */
	struct list *begin;   /* NULL: it was not read */
};

static void add_traced(struct storage_use *use, uint32_t pid, uint32_t thread)
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

struct storage_use *storage_use_new(struct session *session, struct symbols *symbols)
{
	struct storage_use *use = xcalloc(1, sizeof(*use));

	use->session = session;
	use->symbols = symbols;
	use->traced = table_new();
	session_subscribe(session, handlers, use);
	return use;
}

void storage_use_free(struct storage_use *use)
{
	if (!use)
		return;
	table_free(use->traced);
	free(use->begin);
	free(use);
}

/* --- The difference ------------------------------------------------------------------------------- */

static void add_row(void *data, const struct process_storage *storage)
{
	struct list *list = data;

	if (list->count < PROCESS_STORAGE_MAX)
		list->rows[list->count++] = *storage;
}

/* NULL: it cannot be read. The caller frees it. */
static struct list *read_list(struct storage_use *use)
{
	struct list *list = xcalloc(1, sizeof(*list));

	if (!symbols_read_storage(use->symbols, add_row, list))
		return list;
	free(list);
	return NULL;
}

void storage_use_begin(struct storage_use *use)
{
	use->begin = read_list(use);
}

static bool is_older(const struct process_storage *a, const struct process_storage *b)
{
	return a->pid == b->pid && a->read_bytes <= b->read_bytes && a->write_bytes <= b->write_bytes &&
	       a->call_bytes <= b->call_bytes;
}

/*
 * An id with a smaller counter than before is another process's. Kernels count a whole large folio each time that a few bytes of it
 * are written, so no more counts than calls were given; what is written to mapped files does not count, then.
 */
static void subtract(const struct list *begin, struct process_storage *row)
{
	for (size_t i = 0; i < begin->count; i++) {
		const struct process_storage *before = &begin->rows[i];

		if (!is_older(before, row))
			continue;
		row->read_bytes -= before->read_bytes;
		row->write_bytes -= before->write_bytes;
		row->call_bytes -= before->call_bytes;
		break;
	}
	if (row->write_bytes > row->call_bytes)
		row->write_bytes = row->call_bytes;
}

static uint64_t bytes_of(const struct process_storage *row)
{
	return row->read_bytes + row->write_bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct process_storage *x = a, *y = b;

	if (bytes_of(x) != bytes_of(y))
		return bytes_of(x) < bytes_of(y) ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void say(struct storage_use *use, const struct process_storage *row)
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

void storage_use_finish(struct storage_use *use)
{
	struct process_storage traced = { 0 };
	struct list *end = use->begin ? read_list(use) : NULL;

	if (!end)
		return;
	for (size_t i = 0; i < end->count; i++) {
		struct process_storage *row = &end->rows[i];

		subtract(use->begin, row);
		if (!table_find(use->traced, (uint64_t)row->pid + 1))
			continue;
		traced.read_bytes += row->read_bytes;
		traced.write_bytes += row->write_bytes;
		row->read_bytes = row->write_bytes = 0;
	}
	if (end->count)
		qsort(end->rows, end->count, sizeof(*end->rows), by_bytes);
	say(use, &traced);
	for (size_t i = 0; i < end->count && i < SAID_MAX && bytes_of(&end->rows[i]) >= SAID_BYTES; i++)
		say(use, &end->rows[i]);
	free(end);
}
