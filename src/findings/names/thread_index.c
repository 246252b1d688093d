/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/thread_index.h"

#include "account/criticality.h"
#include "base/table.h"

static uint64_t tid_key(uint32_t pid, uint32_t ns_tid)
{
	return (uint64_t)pid << 32 | ns_tid;
}

struct thread_index thread_index_new(const struct criticality *criticality)
{
	struct thread_index index = { table_new(), table_new(), table_new(), table_new() };
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(criticality, &cursor))) {
		const struct thread *thread = metrics->thread;

		if (!thread)
			continue;
		table_put(index.by_number, thread->number, (void *)thread);
		table_put(index.by_tid, tid_key(thread->pid, thread->ns_tid), (void *)thread);
		table_put(index.by_host_tid, thread->tid, (void *)thread);
		if (thread->tid == thread->pid)
			table_put(index.by_pid, thread->pid, (void *)thread);
	}
	return index;
}

void thread_index_free(struct thread_index *index)
{
	table_free(index->by_number);
	table_free(index->by_tid);
	table_free(index->by_pid);
	table_free(index->by_host_tid);
}

const struct thread *thread_index_find(const struct thread_index *index, uint32_t pid, uint32_t ns_tid)
{
	return ns_tid ? table_find(index->by_tid, tid_key(pid, ns_tid)) : NULL;
}
