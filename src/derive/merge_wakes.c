/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wake-ups: who made a thread runnable, and for whom another trace, or another host's, knows that. */
#include "derive/merge_events_internal.h"

#include "derive/merge_peers.h"
#include "session/external_threads.h"
#include "trace/prologue/prologue.h"

/* Only names of files are asked for: what else a wait is for is none. */
void merge_note_wait(struct merge_events *merge, const struct ev_sched_switch *e)
{
	if (merge->has_hosts && thread_is_traced(e->header.thread))
		merge_peers_wait(merge->peers, e->header.thread, e->state == SWITCH_RUNNABLE ? 0 : e->object);
}

void merge_put_ready(struct merge_events *merge, struct merge_source *source, const struct ev_sched_ready *e)
{
	const struct merge_thread *thread = merge_recorded(merge, source, &e->header);

	if (merge->has_hosts && thread)
		merge_peers_wait(merge->peers, thread->number, e->file);
	if (thread)
		merge_put(merge, merge_copy_for(merge, &e->header, thread));
}

/* A thread of another host has sent what the thread waited for: that it was an interrupt which brought it says less. */
static void name_sender(struct merge_events *merge, struct ev_sched_wake *e, uint32_t number)
{
	const struct merge_thread *sender = merge_threads_find(merge->threads, number);
	const struct ev_thread_found *found;

	if (!sender || !sender->reporter)
		return;
	found = prologue_thread(sender->reporter->now, sender->reporters_number);
	e->waker = number;
	e->tid = found ? found->tid : 0;
	e->pid = found ? found->pid : 0;
	e->context = WAKE_THREAD;
	e->flags = (e->flags & ~WAKE_VECTOR) | WAKE_HAS_STACK;
	e->syscall = SYSCALL_NONE;
	e->operation = e->object = e->stack = 0;
}

/* Who is not traced for one pinch may be for another one. What it did when it woke, that one was not asked. */
void merge_put_wake(struct merge_events *merge, struct merge_source *source, const struct merge_event *event)
{
	const struct ev_sched_wake *e = (const void *)&event->header;
	struct merge_thread *thread = merge_recorded(merge, source, &e->header), *waker;
	struct ev_sched_wake *copy;
	uint32_t sender;

	if (!thread || event->is_joined)
		return;
	copy = (void *)merge_copy_for(merge, &e->header, thread);
	waker = e->waker ? merge_threads_get(merge->threads, source, e->waker)
			 : merge_threads_by_tid(merge->threads, e->tid);
	waker = merge_threads_as_traced(waker);
	copy->waker = waker ? waker->number : 0;
	if (thread_is_traced(copy->waker) && !thread_is_traced(e->waker))
		copy->flags |= WAKE_HAS_STACK;
	sender = merge_peers_wake(merge->peers, thread->number);
	if (sender && merge_peers_is_arrival(e))
		name_sender(merge, copy, sender);
	merge_put(merge, &copy->header);
}
