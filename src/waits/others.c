/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/others.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"

enum { OTHERS_MAX = 65536 };

struct others {
	struct arena *arena;
	struct table *by_tid;
};

static void on_other(void *data, const struct ev_header *header)
{
	const struct ev_thread_other *e = (const struct ev_thread_other *)header;
	struct others *others = data;
	struct other *other = table_find(others->by_tid, e->tid);

	if (!other) {
		if (table_count(others->by_tid) >= OTHERS_MAX)
			return;
		other = arena_alloc(others->arena, sizeof(*other));
		table_put(others->by_tid, e->tid, other);
	}
	other->pid = e->pid;
	other->is_kernel = e->is_kernel;
	memcpy(other->name, e->name, sizeof(other->name) - 1);
	memcpy(other->process, e->process, sizeof(other->process) - 1);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_OTHER, on_other },
	{ 0, NULL },
};

struct others *others_new(struct session *session)
{
	struct others *others = xcalloc(1, sizeof(*others));

	others->arena = arena_new();
	others->by_tid = table_new();
	session_subscribe(session, handlers, others);
	return others;
}

void others_free(struct others *others)
{
	if (!others)
		return;
	table_free(others->by_tid);
	arena_free(others->arena);
	free(others);
}

const struct other *others_find(const struct others *others, uint32_t tid)
{
	return table_find(others->by_tid, tid);
}
