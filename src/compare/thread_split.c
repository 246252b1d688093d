/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/thread_split.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "spans/execution.h"

/* A thread with fewer of them on average is one for a single task. */
enum { EXECUTIONS_MIN = 2 };

struct split_thread {
	size_t counts[2];
};

static void free_threads(struct table *threads)
{
	struct split_thread *thread;
	size_t cursor = 0;

	while ((thread = table_next(threads, &cursor)))
		free(thread);
	table_free(threads);
}

static struct split_thread *get_thread(struct table *threads, uint32_t number)
{
	struct split_thread *thread = table_find(threads, number + 1ull);

	if (thread)
		return thread;
	thread = xcalloc(1, sizeof(*thread));
	table_put(threads, number + 1ull, thread);
	return thread;
}

bool thread_split_find(const struct executions *executions, const struct groups *groups, unsigned int first,
		       unsigned int second, uint32_t *most)
{
	struct table *threads = table_new();
	size_t executions_of[2] = { 0 }, threads_of[2] = { 0 }, most_count = 0;
	bool is_split = true;

	for (size_t i = 0; i < executions->count; i++) {
		struct split_thread *thread;
		unsigned int side = groups->of[i] == second;

		if (groups->of[i] != first && groups->of[i] != second)
			continue;
		thread = get_thread(threads, executions->list[i].thread);
		executions_of[side]++;
		threads_of[side] += !thread->counts[side]++;
		is_split &= !thread->counts[!side];
		if (thread->counts[side] > most_count) {
			most_count = thread->counts[side];
			*most = executions->list[i].thread;
		}
	}
	for (unsigned int side = 0; side < 2; side++)
		is_split &= threads_of[side] && executions_of[side] >= EXECUTIONS_MIN * threads_of[side];
	free_threads(threads);
	return is_split;
}
