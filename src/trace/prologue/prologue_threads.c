/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/prologue/prologue_threads_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/wake_order.h"
#include "values.h"

enum {
	THREADS_MAX = 1 << 18, /* more than the kernel side follows at once */
	DEAD_MAX = 4096,       /* are remembered, for records that come late */
};

struct prologue_threads *prologue_threads_new(void)
{
	struct prologue_threads *threads = xcalloc(1, sizeof(*threads));

	threads->by_number = table_new();
	return threads;
}

static void thread_free(struct prologue_thread *thread)
{
	free(thread->title);
	free(thread);
}

void prologue_threads_free(struct prologue_threads *threads)
{
	struct prologue_thread *thread;
	size_t cursor = 0;

	if (!threads)
		return;
	while ((thread = table_next(threads->by_number, &cursor)))
		thread_free(thread);
	table_free(threads->by_number);
	free(threads);
}

static void forget(struct prologue_threads *threads, struct prologue_thread *thread)
{
	struct prologue_thread **recent = &threads->recent[prologue_thread_number(thread) % PROLOGUE_RECENT];

	if (*recent == thread)
		*recent = NULL;
	table_take(threads->by_number, prologue_thread_number(thread));
	thread_free(thread);
}

/* Those that died first go, unless they have turned out to live. */
static void forget_dead(struct prologue_threads *threads)
{
	while (threads->dead_count > DEAD_MAX) {
		struct prologue_thread *thread = threads->first_dead;

		threads->first_dead = thread->next_dead;
		threads->dead_count--;
		thread->is_queued = false;
		if (thread->found.phase == PHASE_DEAD)
			forget(threads, thread);
	}
}

static void died(struct prologue_threads *threads, struct prologue_thread *thread)
{
	if (thread->is_queued)
		return;
	thread->is_queued = true;
	thread->next_dead = NULL;
	if (threads->first_dead)
		threads->last_dead->next_dead = thread;
	else
		threads->first_dead = thread;
	threads->last_dead = thread;
	threads->dead_count++;
}

struct prologue_thread *prologue_threads_find(const struct prologue_threads *threads, uint32_t number)
{
	struct prologue_thread *thread = threads->recent[number % PROLOGUE_RECENT];

	if (thread && prologue_thread_number(thread) == number)
		return thread;
	return table_find(threads->by_number, number);
}

/* NULL: it is none, or there are too many. */
static struct prologue_thread *get(struct prologue_threads *threads, uint32_t number)
{
	struct prologue_thread *thread = prologue_threads_find(threads, number);

	if (!thread && number && table_count(threads->by_number) < THREADS_MAX) {
		thread = xcalloc(1, sizeof(*thread));
		thread->found.header.thread = number;
		thread->found.header.subsys = TRACE_SUBSYS_THREAD;
		thread->found.header.event = TRACE_EVENT_THREAD_FOUND;
		thread->found.syscall = SYSCALL_NONE;
		thread->cpu = PROLOGUE_CPU_UNKNOWN;
		thread->recorded = threads->begins;
		table_put(threads->by_number, number, thread);
	}
	if (thread) {
		threads->recent[number % PROLOGUE_RECENT] = thread;
		thread->sync = threads->sync;
	}
	return thread;
}

static void set_phase(struct prologue_threads *threads, struct prologue_thread *thread, uint8_t phase)
{
	if (thread->cpu != PROLOGUE_CPU_UNKNOWN)
		threads->running[thread->cpu] = NULL;
	thread->cpu = PROLOGUE_CPU_UNKNOWN;
	thread->found.phase = phase;
	if (phase == PHASE_DEAD)
		died(threads, thread);
}

static uint8_t phase_after(const struct ev_sched_switch *e, const struct prologue_thread *thread)
{
	if (e->state == SWITCH_RUNNABLE)
		return PHASE_RUNNABLE;
	if (e->state == SWITCH_DEAD)
		return PHASE_DEAD;
	if (thread->is_wake_early && e->header.time_ns <= thread->wake_ns + WAKE_TIE_NS_MAX)
		return PHASE_RUNNABLE;
	return PHASE_BLOCKED;
}

static void switch_out(struct prologue_threads *threads, const struct ev_sched_switch *e)
{
	struct prologue_thread *thread = get(threads, e->header.thread);
	uint8_t phase;

	if (!thread)
		return;
	phase = phase_after(e, thread);
	thread->is_end_seen = phase == PHASE_DEAD;
	thread->is_wake_early = false;
	set_phase(threads, thread, phase);
	if (phase == PHASE_BLOCKED)
		thread->wait = *e;
}

static void switch_in(struct prologue_threads *threads, const struct ev_sched_switch *e)
{
	struct prologue_thread *thread = get(threads, e->next);

	if (!thread)
		return;
	thread->is_wake_early = false;
	thread->is_wake_late = thread->found.phase == PHASE_BLOCKED;
	if (thread->is_wake_late)
		thread->wake_ns = threads->now_ns;
	set_phase(threads, thread, PHASE_RUNNING);
	thread->cpu = thread->found.cpu = e->cpu;
	threads->running[e->cpu] = thread;
}

static void on_switch(struct prologue_threads *threads, const struct ev_sched_switch *e)
{
	struct prologue_thread *before = threads->running[e->cpu];

	if (before && prologue_thread_number(before) != e->header.thread)
		set_phase(threads, before, PHASE_RUNNABLE);
	if (e->header.thread)
		switch_out(threads, e);
	if (e->next)
		switch_in(threads, e);
}

static void on_wake(struct prologue_threads *threads, const struct ev_header *header)
{
	struct prologue_thread *thread = get(threads, header->thread);

	if (!thread)
		return;
	if (thread->is_wake_late && thread->found.phase == PHASE_RUNNING &&
	    header->time_ns <= thread->wake_ns + WAKE_TIE_NS_MAX) {
		thread->is_wake_late = false;
	} else if (thread->found.phase == PHASE_RUNNING) {
		thread->is_wake_early = true;
		thread->wake_ns = threads->now_ns;
	} else if (thread->found.phase == PHASE_BLOCKED || thread->found.phase == PHASE_UNKNOWN) {
		set_phase(threads, thread, PHASE_RUNNABLE);
	}
}

/* Of either kind of event. A list does not know the parent: the birth's stays. */
#define DESCRIBE(thread, e)                                                 \
	do {                                                                \
		(thread)->is_described = true;                              \
		if ((e)->parent)                                            \
			(thread)->found.parent = (e)->parent;               \
		(thread)->found.tid = (e)->tid;                             \
		(thread)->found.pid = (e)->pid;                             \
		(thread)->found.ns_tid = (e)->ns_tid;                       \
		(thread)->found.ns_pid = (e)->ns_pid;                       \
		(thread)->found.cpus_allowed = (e)->cpus_allowed;           \
		(thread)->found.is_outside = (e)->is_outside;               \
		(thread)->found.start_ns = (e)->start_ns;                   \
		memcpy((thread)->found.name, (e)->name, sizeof((e)->name)); \
	} while (0)

static void on_born(struct prologue_threads *threads, const struct ev_thread_born *e)
{
	struct prologue_thread *thread = get(threads, e->header.thread);

	if (!thread)
		return;
	DESCRIBE(thread, e);
	if (thread->found.phase == PHASE_UNKNOWN)
		set_phase(threads, thread, PHASE_RUNNABLE);
}

static void on_found(struct prologue_threads *threads, const struct ev_thread_found *e)
{
	struct prologue_thread *thread = get(threads, e->header.thread);

	if (!thread)
		return;
	DESCRIBE(thread, e);
	if (e->phase == PHASE_UNKNOWN || e->phase > PHASE_DEAD || e->phase == thread->found.phase ||
	    (thread->found.phase == PHASE_DEAD && thread->is_end_seen) ||
	    (thread->found.phase != PHASE_UNKNOWN && !threads->is_in_gap))
		return;
	thread->is_wake_early = thread->is_wake_late = false;
	set_phase(threads, thread, e->phase);
	thread->found.cpu = e->cpu;
	thread->is_wait_listed = false;
	thread->wait = (struct ev_sched_switch){
		.state = SWITCH_SLEEPING,
		.object = e->object,
		.value = e->value,
		.syscall = e->syscall,
		.operation = e->operation,
	};
}

/* The same as waits_listed() of waits/waits.h takes. */
static void on_waits(struct prologue_threads *threads, const struct ev_thread_waits *e)
{
	struct prologue_thread *thread = get(threads, e->header.thread);
	struct ev_sched_switch *wait;

	if (!thread || thread->found.phase != PHASE_BLOCKED)
		return;
	wait = &thread->wait;
	if (wait->header.time_ns ? e->is_older || e->begin_ns != wait->header.time_ns : !e->is_older && e->begin_ns)
		return;
	wait->header.time_ns = e->begin_ns;
	thread->is_wait_listed = true;
	if (e->is_older || !(wait->flags & SWITCH_HAS_STACK))
		wait->stack = e->stack;
	wait->flags = e->is_older ? e->flags : wait->flags | SWITCH_HAS_STACK;
	wait->keep = e->is_older ? e->keep : 0;
	if (e->state == SWITCH_RUNNABLE || e->state == SWITCH_DEAD)
		return;
	if (!wait->header.time_ns || e->is_older)
		wait->state = e->state;
	if (!wait->header.time_ns || e->is_older || (e->value && !(wait->flags & SWITCH_KERNEL_LOCK))) {
		wait->value = e->value;
		memcpy(wait->owners, e->owners, sizeof(e->owners));
	}
}

static void on_name(struct prologue_threads *threads, const struct ev_thread_name *e)
{
	struct prologue_thread *thread = prologue_threads_find(threads, e->header.thread);

	if (thread)
		memcpy(thread->found.name, e->name, sizeof(e->name));
}

static void on_exec(struct prologue_threads *threads, const struct ev_thread_exec *e)
{
	struct prologue_thread *thread = get(threads, e->header.thread);

	if (!thread)
		return;
	if (thread->found.tid != e->tid)
		thread->found.ns_tid = thread->found.ns_pid;
	thread->found.tid = thread->found.pid = e->tid;
	if (e->cpus_allowed)
		thread->found.cpus_allowed = e->cpus_allowed;
	memcpy(thread->found.name, e->name, sizeof(e->name));
}

static void on_sync_end(struct prologue_threads *threads)
{
	struct prologue_thread *thread;
	size_t cursor = 0;

	if (!threads->is_in_sync)
		return;
	threads->is_in_sync = false;
	if (threads->is_sync_damaged)
		return;
	while ((thread = table_next(threads->by_number, &cursor)))
		if (thread->sync != threads->sync && thread->found.phase != PHASE_DEAD)
			set_phase(threads, thread, PHASE_DEAD);
	threads->is_in_gap = false;
}

static void on_title(struct prologue_threads *threads, const struct ev_thread_title *e)
{
	struct prologue_thread *thread = prologue_threads_find(threads, e->header.thread);

	if (!thread)
		return;
	if (!thread->title)
		thread->title = xcalloc(1, sizeof(*thread->title));
	*thread->title = *e;
}

void prologue_threads_follow(struct prologue_threads *threads, const struct ev_header *header)
{
	if (header->time_ns > threads->now_ns)
		threads->now_ns = header->time_ns;
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		on_switch(threads, (const void *)header);
		break;
	case EV_SCHED_WAKE:
		on_wake(threads, header);
		break;
	case EV_SCHED_SAMPLE:
		get(threads, header->thread);
		break;
	case EV_THREAD_BORN:
		on_born(threads, (const void *)header);
		break;
	case EV_THREAD_FOUND:
		on_found(threads, (const void *)header);
		break;
	case EV_THREAD_WAITS:
		on_waits(threads, (const void *)header);
		break;
	case EV_THREAD_NAME:
		on_name(threads, (const void *)header);
		break;
	case EV_THREAD_EXEC:
		on_exec(threads, (const void *)header);
		break;
	case EV_THREAD_TITLE:
		on_title(threads, (const void *)header);
		break;
	case EV_COLLECT_GAP:
		threads->is_in_gap = threads->is_sync_damaged = true;
		break;
	case EV_COLLECT_SYNC_BEGIN:
		threads->sync++;
		threads->is_in_sync = true;
		threads->is_sync_damaged = false;
		break;
	case EV_COLLECT_SYNC_END:
		on_sync_end(threads);
		break;
	}
	forget_dead(threads);
}
