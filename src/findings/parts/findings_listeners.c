/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets at which traced processes listen, and how many connections waited there. */
#include "findings/parts/findings_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "findings/names/thread_index.h"
#include "waits/accept_queues.h"
#include "waits/files.h"

enum { LISTENERS_MAX = 64 };

static struct report_listener row_of(struct findings *findings, const struct thread_index *threads,
				     const struct accept_queue *queue)
{
	const char *address = object_name_of_file(files_find(findings->input.files, queue->file));
	const struct thread *first = table_find(threads->by_pid, queue->pid);

	return (struct report_listener){
		.pid = queue->pid,
		.name = arena_strdup(findings->arena, first ? first->name : ""),
		.address = address && *address ? arena_strdup(findings->arena, address) : NULL,
		.processes = queue->processes,
		.capacity = queue->capacity,
		.looks = queue->looks,
		.waiting_looks = queue->waiting_looks,
		.full_looks = queue->full_looks,
		.waiting = (double)queue->waiting_sum / queue->looks,
		.waiting_max = queue->waiting_max,
		.drops = queue->drops,
		.dropping_ns = queue->dropping_ns,
	};
}

static int by_weight(const void *a, const void *b)
{
	const struct report_listener *x = a, *y = b;

	if (x->drops != y->drops)
		return x->drops < y->drops ? 1 : -1;
	if (x->waiting != y->waiting)
		return x->waiting < y->waiting ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->address ? x->address : "", y->address ? y->address : "");
}

void findings_add_listeners(struct findings *findings)
{
	struct thread_index threads = thread_index_new(findings->input.criticality);
	struct report_listener *rows = NULL;
	const struct accept_queue *queue;
	size_t cursor = 0, count = 0, capacity = 0;

	while ((queue = accept_queues_next(findings->input.accept_queues, &cursor))) {
		ARRAY_GROW(rows, count, capacity, 16);
		rows[count++] = row_of(findings, &threads, queue);
	}
	thread_index_free(&threads);
	if (count)
		qsort(rows, count, sizeof(*rows), by_weight);
	if (count > LISTENERS_MAX) {
		findings_add_note(findings, "%zu listening sockets at which least waited are left out",
				  count - LISTENERS_MAX);
		count = LISTENERS_MAX;
	}
	if (count)
		findings->report.listeners =
			memcpy(arena_alloc(findings->arena, count * sizeof(*rows)), rows, count * sizeof(*rows));
	findings->report.listener_count = count;
	free(rows);
}
