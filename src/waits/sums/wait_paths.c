/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_paths.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "waits/journal.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/wait_wakers.h"

enum {
	PATHS_MAX = 65536,
	SPARE_MAX = 4096,      /* beyond that, of call paths whatever they wait for */
	THREADS_MAX = 1 << 20, /* in the sets of all paths */
};

struct wait_paths {
	struct arena *arena;
	struct table *by_hash;
	struct wait_path **paths;
	size_t count, capacity, thread_count;
	struct wait_path *others[CAUSES]; /* NULL until it is needed */
};

struct wait_paths *wait_paths_new(void)
{
	struct wait_paths *paths = xcalloc(1, sizeof(*paths));

	paths->arena = arena_new();
	paths->by_hash = table_new();
	return paths;
}

void wait_paths_free(struct wait_paths *paths)
{
	if (!paths)
		return;
	free(paths->paths);
	table_free(paths->by_hash);
	arena_free(paths->arena);
	free(paths);
}

static struct wait_path *add(struct wait_paths *paths, const struct open_wait *wait)
{
	struct wait_path *path = arena_alloc(paths->arena, sizeof(*path));

	ARRAY_GROW(paths->paths, paths->count, paths->capacity, 64);
	path->facts = wait->facts;
	path->cause = wait->cause;
	paths->paths[paths->count++] = path;
	return path;
}

static bool is_same(const struct wait_path *path, const struct thread *thread, uint64_t stack,
		    const struct open_wait *wait)
{
	return path->stack == stack && path->pid == thread->pid && path->exec_count == thread->exec_count &&
	       path->cause == wait->cause && path->facts.syscall == wait->facts.syscall &&
	       path->object == wait->facts.object;
}

static struct wait_path *get_others(struct wait_paths *paths, const struct open_wait *wait)
{
	struct wait_path **others = &paths->others[wait->cause];

	if (!*others) {
		*others = add(paths, wait);
		(*others)->has_many_objects = true;
	}
	return *others;
}

static struct wait_path *get(struct wait_paths *paths, const struct thread *thread, uint64_t stack,
			     const struct open_wait *wait, size_t count_max)
{
	uint64_t space = (uint64_t)thread->exec_count << 32 | thread->pid;
	uint64_t call = (uint64_t)wait->facts.syscall << 8 | wait->cause;
	uint64_t hash = hash_u64(stack ^ hash_u64(space ^ hash_u64(call ^ hash_u64(wait->facts.object))));
	struct wait_path *first = table_find(paths->by_hash, hash), *path;

	for (path = first; path; path = path->next)
		if (is_same(path, thread, stack, wait))
			return path;
	if (paths->count >= count_max)
		return NULL;
	path = add(paths, wait);
	path->stack = stack;
	path->pid = thread->pid;
	path->exec_count = thread->exec_count;
	path->object = wait->facts.object;
	path->next = first;
	table_put(paths->by_hash, hash, path);
	return path;
}

struct wait_path *wait_paths_get(struct wait_paths *paths, const struct thread *thread, uint64_t stack,
				 const struct open_wait *wait)
{
	struct wait_path *path = get(paths, thread, stack, wait, PATHS_MAX);
	struct open_wait any;

	if (path)
		return path;
	any = *wait;
	any.facts.object = 0;
	path = get(paths, thread, stack, &any, PATHS_MAX + SPARE_MAX);
	if (!path)
		return get_others(paths, wait);
	path->has_many_objects = true;
	return path;
}

static void add_wait(struct wait_path *path, const struct open_wait *wait, uint64_t wait_ns, uint64_t idle_ns,
		     double weight)
{
	struct wait_amount amount = wait_amount_of(wait_ns, idle_ns, wait->slice_cmetric_ns);

	/* Its first one: another open wait may have been tried here before. */
	if (!path->certain.of[WAIT_COUNT]) {
		path->first_ns = wait->begin_ns;
		path->facts = wait->facts;
		path->object = path->has_many_objects ? 0 : wait->facts.object;
	}
	path->wait_ns += wait_ns * weight;
	path->idle_ns += idle_ns * weight;
	path->count += weight;
	path->cmetric_ns += wait->slice_cmetric_ns * weight;
	if (wait->slice_cmetric_ns > path->cmetric_max_ns)
		path->cmetric_max_ns = wait->slice_cmetric_ns;
	wait_amount_add(&path->certain, &amount, 1);
	if (weight != 1)
		wait_amount_add(wait_class(path->excess, wait_ns), &amount, weight - 1);
	if (wait_ns > path->max_ns)
		path->max_ns = wait_ns;
}

void wait_path_add(struct wait_paths *paths, struct wait_path *path, const struct thread *thread,
		   const struct open_wait *wait, uint64_t wait_ns, uint64_t idle_ns, double weight,
		   const struct wait_end *end)
{
	if (weight != 1 && !path->excess)
		path->excess = arena_alloc(paths->arena, sizeof(*path->excess));
	add_wait(path, wait, wait_ns, idle_ns, weight);
	if (paths->thread_count < THREADS_MAX)
		paths->thread_count += thread_set_put(&path->threads, paths->arena, thread->number);
	path->is_estimated |= weight != 1 || end->weight != 1;
	wait_wakers_add(paths->arena, &path->wakers, end, wait_ns);
	missing_wakeups_note_waker(end->open, paths->arena, &path->wakers, wait_ns, end->weight);
}

/* The waker of an open wait is in front of the others, and of no arena but the journal's. */
static struct wait_waker *get_nobody(struct wait_path *path, struct journal *journal)
{
	struct wait_waker *waker = path->wakers;

	if (waker && waker->kind == WAKER_NONE)
		return waker;
	waker = journal_alloc(journal, sizeof(*waker));
	waker->kind = WAKER_NONE;
	waker->next = path->wakers;
	path->wakers = waker;
	return waker;
}

/* The path has been saved. */
static void add_thread_for_now(struct wait_path *path, struct journal *journal, uint32_t number)
{
	size_t size_bytes = thread_set_bytes_wanted(&path->threads);

	if (!thread_set_wants(&path->threads, number))
		return;
	if (size_bytes)
		thread_set_move(&path->threads, journal_alloc(journal, size_bytes), size_bytes);
	else
		journal_save(journal, path->threads.numbers, path->threads.capacity * sizeof(uint32_t));
	thread_set_add(&path->threads, number);
}

void wait_path_add_open(struct wait_path *path, const struct thread *thread, const struct open_wait *wait,
			uint64_t wait_ns, uint64_t idle_ns, double weight, struct journal *journal)
{
	struct wait_waker *waker;

	journal_save(journal, path, sizeof(*path));
	if (path->excess)
		journal_save(journal, path->excess, sizeof(*path->excess));
	else if (weight != 1)
		path->excess = journal_alloc(journal, sizeof(*path->excess));
	add_wait(path, wait, wait_ns, idle_ns, weight);
	add_thread_for_now(path, journal, thread->number);
	waker = get_nobody(path, journal);
	waker->wait_ns += wait_ns * weight;
	waker->count += weight;
}

void wait_path_move_idle(struct wait_path *path, uint64_t wait_ns, double idle_ns, double weight)
{
	path->idle_ns += idle_ns * weight;
	wait_amount_move_idle(&path->certain, idle_ns);
	if (weight != 1)
		wait_amount_move_idle(wait_class(path->excess, wait_ns), idle_ns * (weight - 1));
}

void wait_path_move_waker(struct wait_paths *paths, struct wait_path *path, const struct wait_end *end, uint64_t count,
			  uint64_t wait_ns, uint64_t cmetric_ns, double weight)
{
	path->is_estimated |= end->weight != 1;
	wait_wakers_move(paths->arena, &path->wakers, end, count, wait_ns, cmetric_ns, weight);
}

/* A wait that was counted while it lasted leaves its path behind. */
const struct wait_path *wait_paths_next(const struct wait_paths *paths, size_t *cursor)
{
	while (*cursor < paths->count) {
		const struct wait_path *path = paths->paths[(*cursor)++];

		if (path->certain.of[WAIT_COUNT] > 0)
			return path;
	}
	return NULL;
}
