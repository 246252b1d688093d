/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells again who lives and does what. */
#include "trace/prologue/prologue_threads_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/wake_order.h"
#include "trace/prologue/prologue_out.h"
#include "values.h"

static void emit_plain(const struct prologue_out *out, enum event_id id, uint64_t time_ns)
{
	struct ev_header header = {
		.time_ns = time_ns,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};

	out->emit(out->data, &header);
}

static void emit_gap(const struct prologue_out *out, uint64_t time_ns)
{
	struct ev_collect_gap e = {
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_GAP },
	};

	out->emit(out->data, &e.header);
}

static void emit_found(const struct prologue_thread *thread, uint64_t time_ns, const struct prologue_out *out)
{
	struct ev_thread_found e = thread->found;

	e.header.time_ns = time_ns;
	if (e.phase == PHASE_BLOCKED) {
		e.object = thread->wait.object;
		e.value = thread->wait.value;
		e.syscall = thread->wait.syscall;
		e.operation = thread->wait.operation;
	}
	out->emit(out->data, &e.header);
}

/* Titles of threads that are known. */
static void emit_title(const struct prologue_thread *thread, uint64_t time_ns, const struct prologue_out *out)
{
	struct ev_thread_title e;

	if (!thread->title)
		return;
	e = *thread->title;
	e.header.time_ns = time_ns;
	out->emit(out->data, &e.header);
}

static void emit_wait(const struct prologue_thread *thread, uint64_t time_ns, const struct prologue_out *out)
{
	const struct ev_sched_switch *wait = &thread->wait;
	struct ev_thread_waits e = {
		.header = { .time_ns = time_ns,
			    .thread = prologue_thread_number(thread),
			    .subsys = TRACE_SUBSYS_THREAD,
			    .event = TRACE_EVENT_THREAD_WAITS },
		.begin_ns = wait->header.time_ns,
		.stack = wait->stack,
		.state = wait->state,
		.value = wait->value,
	};

	memcpy(e.owners, wait->owners, sizeof(e.owners));
	if (e.begin_ns) {
		e.is_older = true;
		e.flags = wait->flags;
		e.keep = wait->keep;
	}
	out->emit(out->data, &e.header);
}

/* Whoever reads the switch that is to come must know that it does not end in a wait. */
static void emit_early_wake(const struct prologue_thread *thread, uint64_t time_ns, const struct prologue_out *out)
{
	struct ev_sched_wake e = {
		.header = { .time_ns = time_ns,
			    .thread = prologue_thread_number(thread),
			    .subsys = TRACE_SUBSYS_SCHED,
			    .event = TRACE_EVENT_SCHED_WAKE },
		.syscall = SYSCALL_NONE,
	};

	out->emit(out->data, &e.header);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = prologue_thread_number(*(struct prologue_thread *const *)a);
	uint32_t y = prologue_thread_number(*(struct prologue_thread *const *)b);

	return (x > y) - (x < y);
}

static bool must_be_recorded(const struct prologue_thread *thread)
{
	if (thread->found.phase == PHASE_UNKNOWN)
		return thread->is_described;
	return thread->found.phase != PHASE_DEAD;
}

/* By number; to be freed. */
static struct prologue_thread **list(const struct prologue_threads *threads, size_t *count)
{
	struct prologue_thread **list = xcalloc(table_count(threads->by_number) + 1, sizeof(*list));
	struct prologue_thread *thread;
	size_t cursor = 0;

	*count = 0;
	while ((thread = table_next(threads->by_number, &cursor)))
		if (must_be_recorded(thread))
			list[(*count)++] = thread;
	qsort(list, *count, sizeof(*list), by_number);
	return list;
}

static void emit_waits(const struct prologue_threads *threads, struct prologue_thread *thread, uint64_t time_ns,
		       const struct prologue_out *out)
{
	if (thread->found.phase == PHASE_BLOCKED && (thread->wait.header.time_ns || thread->is_wait_listed))
		emit_wait(thread, time_ns, out);
	if (thread->found.phase == PHASE_RUNNING && thread->is_wake_early &&
	    time_ns <= thread->wake_ns + WAKE_TIE_NS_MAX)
		emit_early_wake(thread, time_ns, out);
	thread->recorded = threads->begins;
}

/* A gap that the end of a list has yet to end, and how far that list has come. */
static void emit_gap_state(const struct prologue_threads *threads, struct prologue_thread **list, size_t count,
			   uint64_t time_ns, const struct prologue_out *out)
{
	bool is_damaged = threads->is_in_sync && threads->is_sync_damaged;

	if (threads->is_in_gap && !is_damaged)
		emit_gap(out, time_ns);
	if (!threads->is_in_sync)
		return;
	emit_plain(out, EV_COLLECT_SYNC_BEGIN, time_ns);
	for (size_t i = 0; i < count; i++)
		if (list[i]->sync == threads->sync)
			emit_found(list[i], time_ns, out);
	if (is_damaged)
		emit_gap(out, time_ns);
}

void prologue_threads_begin(struct prologue_threads *threads, uint64_t time_ns, const struct prologue_out *out)
{
	size_t count;
	struct prologue_thread **all = list(threads, &count);

	threads->begins++;
	emit_plain(out, EV_COLLECT_SYNC_BEGIN, time_ns);
	for (size_t i = 0; i < count; i++)
		emit_found(all[i], time_ns, out);
	emit_plain(out, EV_COLLECT_SYNC_END, time_ns);
	for (size_t i = 0; i < count; i++) {
		emit_title(all[i], time_ns, out);
		emit_waits(threads, all[i], time_ns, out);
	}
	emit_gap_state(threads, all, count, time_ns, out);
	free(all);
}

void prologue_threads_refer(struct prologue_threads *threads, uint32_t number, uint64_t time_ns,
			    const struct prologue_out *out)
{
	struct prologue_thread *thread = prologue_threads_find(threads, number);

	if (!thread || thread->recorded == threads->begins)
		return;
	thread->recorded = threads->begins;
	emit_found(thread, time_ns, out);
	emit_title(thread, time_ns, out);
}
