/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_events_internal.h"

#include <string.h>

#include "trace/prologue/prologue.h"
#include "values.h"

static void put_plain(struct merge_events *merge, enum event_id id, uint64_t time_ns)
{
	struct ev_header header = {
		.time_ns = time_ns,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};

	merge_put(merge, &header);
}

void merge_put_gap(struct merge_events *merge, uint64_t time_ns)
{
	struct ev_collect_gap e = {
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_GAP },
	};

	merge_put(merge, &e.header);
}

static void put_listed(struct merge_events *merge, struct merge_thread *thread, uint64_t time_ns)
{
	const struct merge_source *reporter = thread->reporter;
	const struct ev_thread_found *found =
		reporter && !reporter->has_ended ? prologue_thread(reporter->now, thread->reporters_number) : NULL;
	struct ev_thread_found e;

	thread->is_alive = merge_thread_lives(found);
	if (!thread->is_alive)
		return;
	e = *found;
	e.header.time_ns = time_ns;
	e.header.thread = thread->number;
	e.parent = 0;
	merge_put(merge, &e.header);
}

void merge_put_list(struct merge_events *merge, uint64_t time_ns)
{
	struct merge_thread *thread;
	size_t cursor = 0;

	put_plain(merge, EV_COLLECT_SYNC_BEGIN, time_ns);
	while ((thread = merge_threads_next(merge->threads, &cursor)))
		put_listed(merge, thread, time_ns);
	put_plain(merge, EV_COLLECT_SYNC_END, time_ns);
	for (size_t i = 0; i < merge->count; i++)
		if (merge->sources[i].is_in_gap && !merge->sources[i].has_ended) {
			merge_put_gap(merge, time_ns);
			break;
		}
}

void merge_end_list(struct merge_events *merge, struct merge_source *source, uint64_t time_ns)
{
	bool is_first = !source->is_listed;

	if (source->is_list_damaged)
		return;
	source->is_listed = true;
	if (source->is_in_gap) {
		source->is_in_gap = false;
		merge_put_list(merge, time_ns);
	} else if (is_first && merge_has_ghosts(merge)) {
		merge_put_gap(merge, time_ns);
		merge_put_list(merge, time_ns);
	}
}

/* What the trace that spoke for a thread left it with, when another one goes on; NULL: it still does. */
static const struct ev_thread_found *left_with(const struct merge_source *source, const struct merge_thread *thread)
{
	const struct merge_source *reporter = thread->reporter;

	if (!reporter || reporter == source || !reporter->has_ended || !thread->is_alive)
		return NULL;
	return prologue_thread(reporter->now, thread->reporters_number);
}

bool merge_list_is_known(struct merge_events *merge, struct merge_source *source, const struct merge_thread *thread,
			 const struct ev_thread_found *e)
{
	const struct ev_thread_found *left = left_with(source, thread);

	if (!left)
		return false;
	if (left->phase != e->phase && !source->is_in_gap) {
		source->is_in_gap = true;
		merge_put_gap(merge, e->header.time_ns);
	}
	return left->phase == e->phase && !memcmp(left->name, e->name, sizeof(e->name));
}

static bool is_wait(const struct ev_sched_switch *e)
{
	return e->state != SWITCH_RUNNABLE && e->state != SWITCH_DEAD;
}

void merge_list_correct(struct merge_events *merge, struct merge_source *source, uint32_t number,
			struct ev_thread_found *e)
{
	struct merge_event *event = source->cpus[e->cpu].first;
	uint32_t running = merge->running[e->cpu];
	const struct ev_sched_switch *leave;

	if (e->phase != PHASE_RUNNING || source->is_listed || !running || running == e->header.thread)
		return;
	while (event && event->is_joined)
		event = event->next_on_cpu;
	leave = event ? (const void *)&event->header : NULL;
	if (!leave || leave->header.thread != number || leave->state == SWITCH_DEAD)
		return;
	e->phase = is_wait(leave) ? PHASE_BLOCKED : PHASE_RUNNABLE;
	if (is_wait(leave)) {
		e->object = leave->object;
		e->value = leave->value;
		e->syscall = leave->syscall;
		e->operation = leave->operation;
	}
	event->is_joined = true;
	prologue_follow(source->now, &event->header, false);
}
