/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_threads.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/external_threads.h"

enum { THREADS_MAX = 1 << 22 };

struct merge_threads {
	struct arena *arena;
	struct table *by_number;
	struct table *by_identity; /* of id and beginning */
	struct table *by_tid;      /* who had the id last */
	uint32_t last_number;
};

struct merge_threads *merge_threads_new(void)
{
	struct merge_threads *threads = xcalloc(1, sizeof(*threads));

	threads->arena = arena_new();
	threads->by_number = table_new();
	threads->by_identity = table_new();
	threads->by_tid = table_new();
	return threads;
}

void merge_threads_free(struct merge_threads *threads)
{
	if (!threads)
		return;
	table_free(threads->by_number);
	table_free(threads->by_identity);
	table_free(threads->by_tid);
	arena_free(threads->arena);
	free(threads);
}

/* As what one of the sources has the number. NULL: there are too many. */
static struct merge_thread *add(struct merge_threads *threads, uint32_t number)
{
	struct merge_thread *thread;

	if (threads->last_number == THREADS_MAX)
		return NULL;
	thread = arena_alloc(threads->arena, sizeof(*thread));
	thread->number = ++threads->last_number | (number & THREAD_EXTERNAL);
	table_put(threads->by_number, thread->number, thread);
	return thread;
}

static void add_knower(struct merge_threads *threads, struct merge_thread *thread, struct merge_source *source,
		       uint32_t number)
{
	struct merge_knower *knower = arena_alloc(threads->arena, sizeof(*knower));

	*knower = (struct merge_knower){ thread->knowers, source, number };
	thread->knowers = knower;
	table_put(source->numbers, number, thread);
}

/* Of one that is traced, and of one that is not: they differ in a bit. */
static uint64_t identity(uint32_t tid, uint64_t start_ns, uint32_t number)
{
	return (hash_u64(tid ^ hash_u64(start_ns)) | 1) ^ thread_is_external(number);
}

static void find_twin(struct merge_threads *threads, struct merge_thread *thread, uint64_t key)
{
	struct merge_thread *other = table_find(threads->by_identity, key ^ 1);

	if (thread_is_external(thread->number))
		thread->twin = other;
	else if (other)
		other->twin = thread;
}

void merge_threads_meet(struct merge_threads *threads, struct merge_source *source, const struct ev_header *header)
{
	const struct ev_thread_born *born = (const void *)header;
	const struct ev_thread_found *found = (const void *)header;
	bool is_birth = header->event == TRACE_EVENT_THREAD_BORN;
	uint32_t tid = is_birth ? born->tid : found->tid;
	uint64_t key = identity(tid, is_birth ? born->start_ns : found->start_ns, header->thread);
	struct merge_thread *thread = table_find(source->numbers, header->thread);

	if (!thread) {
		thread = table_find(threads->by_identity, key);
		if (!thread)
			thread = add(threads, header->thread);
		if (!thread)
			return;
		add_knower(threads, thread, source, header->thread);
	}
	table_put(threads->by_identity, key, thread);
	table_put(threads->by_tid, tid, thread);
	find_twin(threads, thread, key);
}

void merge_threads_rename(struct merge_threads *threads, struct merge_source *source, const struct ev_thread_exec *e)
{
	struct merge_thread *thread = merge_threads_get(threads, source, e->header.thread);

	if (thread)
		table_put(threads->by_tid, e->tid, thread);
}

struct merge_thread *merge_threads_get(struct merge_threads *threads, struct merge_source *source, uint32_t number)
{
	struct merge_thread *thread = number ? table_find(source->numbers, number) : NULL;

	if (thread || !number)
		return thread;
	thread = add(threads, number);
	if (thread)
		add_knower(threads, thread, source, number);
	return thread;
}

struct merge_thread *merge_threads_find(struct merge_threads *threads, uint32_t number)
{
	return table_find(threads->by_number, number);
}

struct merge_thread *merge_threads_by_tid(struct merge_threads *threads, uint32_t tid)
{
	struct merge_thread *thread = tid ? table_find(threads->by_tid, tid) : NULL;

	thread = merge_threads_as_traced(thread);
	return thread && thread->is_alive && thread->reporter && !thread->reporter->has_ended ? thread : NULL;
}

struct merge_thread *merge_threads_as_traced(struct merge_thread *thread)
{
	struct merge_thread *twin = thread ? thread->twin : NULL;

	return twin && twin->is_alive && twin->reporter && !twin->reporter->has_ended ? twin : thread;
}

bool merge_threads_reports(struct merge_thread *thread, struct merge_source *source, uint32_t number)
{
	if (merge_threads_as_traced(thread) != thread)
		return false;
	if (thread->reporter != source && (!thread->reporter || thread->reporter->has_ended)) {
		thread->reporter = source;
		thread->reporters_number = number;
	}
	return thread->reporter == source;
}

bool merge_threads_hand_over(struct merge_thread *thread)
{
	for (const struct merge_knower *knower = thread->knowers; knower; knower = knower->next)
		if (knower->source != thread->reporter && !knower->source->is_silent) {
			thread->reporter = knower->source;
			thread->reporters_number = knower->number;
			return true;
		}
	return false;
}

struct merge_thread *merge_threads_next(struct merge_threads *threads, size_t *cursor)
{
	return table_next(threads->by_number, cursor);
}
