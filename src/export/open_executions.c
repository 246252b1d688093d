/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/open_executions.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "export/export_format.h"
#include "spans/execution.h"

/* Of one thread. */
struct thread_executions {
	uint32_t next;               /* the first one that has not begun, plus 1; 0: there is none */
	struct open_execution *list; /* the outer ones first */
	size_t count, capacity;
};

struct open_executions {
	const struct executions *all;
	void (*on_open)(void *data, const struct export_thread *thread, const struct open_execution *opened);
	void *data;
	uint32_t *next;          /* of the same thread, plus 1; by their places in the list */
	struct table *by_thread; /* struct thread_executions */
};

static void add_thread(struct open_executions *open, uint32_t first)
{
	uint32_t number = open->all->list[first].thread;
	struct thread_executions *thread = table_find(open->by_thread, number);

	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		table_put(open->by_thread, number, thread);
	}
	open->next[first] = thread->next;
	thread->next = first + 1;
}

struct open_executions *open_executions_new(const struct executions *all,
					    void (*on_open)(void *data, const struct export_thread *thread,
							    const struct open_execution *opened),
					    void *data)
{
	struct open_executions *open = xcalloc(1, sizeof(*open));

	*open = (struct open_executions){
		.all = all,
		.on_open = on_open,
		.data = data,
		.next = xcalloc(all->count + 1, sizeof(*open->next)),
		.by_thread = table_new(),
	};
	for (size_t i = all->count; i-- > 0;)
		add_thread(open, i);
	return open;
}

void open_executions_free(struct open_executions *open)
{
	struct thread_executions *thread;
	size_t cursor = 0;

	if (!open)
		return;
	while ((thread = table_next(open->by_thread, &cursor))) {
		free(thread->list);
		free(thread);
	}
	table_free(open->by_thread);
	free(open->next);
	free(open);
}

static void drop_ended(struct open_executions *open, struct thread_executions *thread, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < thread->count; i++)
		if (open->all->list[thread->list[i].number].end_ns > now_ns)
			thread->list[kept++] = thread->list[i];
	thread->count = kept;
}

static bool lies_in(const struct execution *inner, const struct execution *outer)
{
	return outer->begin_ns <= inner->begin_ns && inner->end_ns <= outer->end_ns;
}

static void push(struct open_executions *open, struct thread_executions *thread, const struct export_thread *who,
		 uint32_t number)
{
	const struct execution *list = open->all->list;
	struct open_execution opened = { .number = number, .outermost = number };

	for (size_t i = 0; i < thread->count; i++)
		if (lies_in(&list[number], &list[thread->list[i].number])) {
			opened.outermost = thread->list[i].outermost;
			opened.parent = thread->list[i].number;
			opened.has_parent = true;
		}
	ARRAY_GROW(thread->list, thread->count, thread->capacity, 4);
	thread->list[thread->count++] = opened;
	open->on_open(open->data, who, &opened);
}

const struct open_execution *open_executions_find(struct open_executions *open, const struct export_thread *thread,
						  uint64_t begin_ns, uint64_t end_ns)
{
	struct thread_executions *of = table_find(open->by_thread, thread->number);
	const struct execution *list = open->all->list;

	if (!of)
		return NULL;
	for (; of->next && list[of->next - 1].begin_ns < end_ns; of->next = open->next[of->next - 1]) {
		/* Those that ended before another one begins are not around it. */
		drop_ended(open, of, list[of->next - 1].begin_ns > begin_ns ? list[of->next - 1].begin_ns : begin_ns);
		if (list[of->next - 1].end_ns > begin_ns)
			push(open, of, thread, of->next - 1);
	}
	drop_ended(open, of, begin_ns);
	for (size_t i = of->count; i-- > 0;) {
		const struct execution *execution = &list[of->list[i].number];

		if (execution->begin_thread == execution->thread && execution->begin_ns <= begin_ns &&
		    end_ns <= execution->end_ns)
			return &of->list[i];
	}
	return NULL;
}
