/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/external_threads.h"

/* So many that are not traced are known at a time. */
enum { EXTERNALS_MAX = 1 << 16 };

struct threads {
	struct session *session;
	struct threads *other; /* NULL: none forgets what is forgotten here */
	struct table *by_number;
	struct table *by_own; /* those that are traced, by own_key(): the last one that had it */
	size_t external_count;
};

static uint64_t own_key(uint32_t pid, uint32_t ns_tid)
{
	return (uint64_t)pid << 32 | ns_tid;
}

/* The thread has got its ids. */
static void put_own(struct threads *threads, struct thread *thread)
{
	if (!thread->is_outside)
		table_put(threads->by_own, own_key(thread->pid, thread->ns_tid), thread);
}

static void take_own(struct threads *threads, const struct thread *thread)
{
	if (table_find(threads->by_own, own_key(thread->pid, thread->ns_tid)) == thread)
		table_take(threads->by_own, own_key(thread->pid, thread->ns_tid));
}

static void thread_free(struct thread *thread)
{
	free(thread->title);
	free(thread);
}

static void set_name(struct thread *thread, const char *name)
{
	memcpy(thread->name, name, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
}

/*
 * A thread lives in the address space of the one that created it, unless that was another
 * process. Both then count the same execs. Of one that is traced, only parents count that are.
 */
static void set_parent(struct threads *threads, struct thread *thread, uint32_t parent_number)
{
	const struct thread *parent;

	if (thread_is_external(parent_number) && !thread->is_outside)
		parent_number = 0;
	parent = table_find(threads->by_number, parent_number);
	thread->parent = parent_number;
	if (parent && parent->pid == thread->pid && parent->exec_count > thread->exec_count)
		thread->exec_count = parent->exec_count;
}

static void on_born(void *data, const struct ev_header *header)
{
	const struct ev_thread_born *e = (const struct ev_thread_born *)header;
	struct thread *thread;

	if (!header->thread)
		return;
	thread = threads_get(data, header->thread);
	thread->tid = e->tid;
	thread->pid = e->pid;
	thread->ns_tid = e->ns_tid;
	thread->ns_pid = e->ns_pid;
	thread->start_ns = e->start_ns;
	thread->cpus_allowed = e->cpus_allowed;
	put_own(data, thread);
	set_parent(data, thread, e->parent);
	set_name(thread, e->name);
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;
	struct threads *threads = data;
	struct thread *thread;
	bool is_first;

	if (!header->thread)
		return;
	is_first = !table_find(threads->by_number, header->thread);
	thread = threads_get(threads, header->thread);
	thread->was_found |= is_first;
	thread->tid = e->tid;
	thread->pid = e->pid;
	thread->ns_tid = e->ns_tid;
	thread->ns_pid = e->ns_pid;
	thread->start_ns = e->start_ns;
	thread->cpus_allowed = e->cpus_allowed;
	put_own(threads, thread);
	/* A resync does not know the parent; the birth's stays. */
	if (e->parent)
		set_parent(threads, thread, e->parent);
	set_name(thread, e->name);
}

static void on_name(void *data, const struct ev_header *header)
{
	const struct ev_thread_name *e = (const struct ev_thread_name *)header;

	if (header->thread)
		set_name(threads_get(data, header->thread), e->name);
}

static void on_exec(void *data, const struct ev_header *header)
{
	const struct ev_thread_exec *e = (const struct ev_thread_exec *)header;
	struct thread *thread;

	if (!header->thread)
		return;
	thread = threads_get(data, header->thread);
	take_own(data, thread);
	/* The thread that execs takes over the id of its process. */
	if (thread->tid != e->tid)
		thread->ns_tid = thread->ns_pid;
	thread->tid = e->tid;
	thread->pid = e->tid;
	put_own(data, thread);
	thread->exec_count++;
	if (e->cpus_allowed)
		thread->cpus_allowed = e->cpus_allowed;
	set_name(thread, e->name);
}

static void on_title(void *data, const struct ev_header *header)
{
	const struct ev_thread_title *e = (const struct ev_thread_title *)header;
	const struct threads *threads = data;
	struct thread *thread = table_find(threads->by_number, header->thread);
	char title[sizeof(e->title) + 1] = { 0 };

	/* It may have ended before. */
	if (!thread)
		return;
	free(thread->title);
	memcpy(title, e->title, sizeof(e->title));
	thread->title = title[0] ? xstrdup(title) : NULL;
}

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct threads *threads = data;
	struct thread *thread;

	if (e->state != SWITCH_DEAD || !thread_is_external(header->thread))
		return;
	thread = table_find(threads->by_number, header->thread);
	if (thread)
		thread->has_ended = true;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ EV_THREAD_NAME, on_name },
	{ EV_THREAD_EXEC, on_exec },
	{ EV_THREAD_TITLE, on_title },
	{ 0, NULL },
};

struct threads *threads_new(struct session *session)
{
	struct threads *threads = xcalloc(1, sizeof(*threads));

	threads->session = session;
	threads->by_number = table_new();
	threads->by_own = table_new();
	session_subscribe(session, handlers, threads);
	return threads;
}

void threads_forget_also(struct threads *threads, struct threads *other)
{
	threads->other = other;
}

void threads_free(struct threads *threads)
{
	struct thread *thread;
	size_t cursor = 0;

	if (!threads)
		return;
	while ((thread = table_next(threads->by_number, &cursor)))
		thread_free(thread);
	table_free(threads->by_number);
	table_free(threads->by_own);
	free(threads);
}

/* Those that are not traced, or of them those that have ended. */
static void forget_externals(struct threads *threads, bool has_ended)
{
	struct table *left = table_new();
	struct thread *thread;
	size_t cursor = 0;

	while ((thread = table_next(threads->by_number, &cursor))) {
		if (!thread->is_outside || thread->is_kept || thread->has_ended < has_ended) {
			table_put(left, thread->number, thread);
			continue;
		}
		thread_free(thread);
		threads->external_count--;
	}
	table_free(threads->by_number);
	threads->by_number = left;
}

/* Makes space for one more. All go where damage hides their ends: who lives comes again. */
static void add_external(struct threads *threads)
{
	if (threads->external_count >= EXTERNALS_MAX) {
		forget_externals(threads, true);
		if (threads->external_count > EXTERNALS_MAX / 2)
			forget_externals(threads, false);
	}
	threads->external_count++;
}

struct thread *threads_get(struct threads *threads, uint32_t number)
{
	struct thread *thread = table_find(threads->by_number, number);

	if (thread)
		return thread;
	if (thread_is_external(number))
		add_external(threads);
	thread = xcalloc(1, sizeof(*thread));
	thread->number = number;
	thread->is_outside = thread_is_external(number);
	thread->born_ns = session_time_ns(threads->session);
	table_put(threads->by_number, number, thread);
	return thread;
}

void threads_forget(struct threads *threads, struct thread *thread)
{
	struct thread *twin;

	if (thread->is_kept)
		return;
	twin = threads->other ? table_find(threads->other->by_number, thread->number) : NULL;
	if (twin)
		threads_forget(threads->other, twin);
	table_take(threads->by_number, thread->number);
	take_own(threads, thread);
	thread_free(thread);
}

struct thread *threads_find_own(const struct threads *threads, uint32_t pid, uint32_t ns_tid)
{
	return table_find(threads->by_own, own_key(pid, ns_tid));
}

const struct thread *threads_find(const struct threads *threads, uint32_t number)
{
	return table_find(threads->by_number, number);
}
