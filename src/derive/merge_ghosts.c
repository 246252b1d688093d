/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces end, and others go on. A thread that others have found goes on in one of these; a ghost is one
 * that no trace speaks for any more.
 */
#include "derive/merge_events_internal.h"

#include "session/external_threads.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "values.h"

enum { WAKE_AHEAD_MAX = 4096 }; /* events, to look for a wake-up */

static const uint64_t one_end_ns = 1000000000; /* traces that end so close together end together */

/* The end of its trace may come a while after the last of its events. */
static bool is_left_alone(const struct merge_thread *thread)
{
	return thread->is_alive && thread->reporter && thread->reporter->is_silent;
}

bool merge_has_ghosts(struct merge_events *merge)
{
	struct merge_thread *thread;
	size_t cursor = 0;

	while ((thread = merge_threads_next(merge->threads, &cursor)))
		if (is_left_alone(thread) && thread->reporter->has_ended)
			return true;
	return false;
}

static uint64_t latest_ns(const struct merge_events *merge)
{
	uint64_t last_ns = merge->now_ns;

	for (size_t i = 0; i < merge->count; i++) {
		const struct trace_extent *extent = trace_reader_extent(merge->sources[i].reader);

		if (extent->last_ns > last_ns)
			last_ns = extent->last_ns;
	}
	return last_ns;
}

static bool others_go_on(const struct merge_events *merge, const struct merge_source *source)
{
	for (size_t i = 0; i < merge->count; i++)
		if (&merge->sources[i] != source && merge->sources[i].is_listed && !merge->sources[i].has_ended)
			return true;
	return false;
}

static const struct ev_thread_found *recorded_last(const struct merge_thread *thread)
{
	return prologue_thread(thread->reporter->now, thread->reporters_number);
}

static uint8_t phase_now(const struct merge_thread *thread)
{
	const struct ev_thread_found *found = recorded_last(thread);

	return found ? found->phase : PHASE_UNKNOWN;
}

/* The wake-up that was written last may have yet to come in the trace that goes on. */
static void skip_wake(const struct merge_thread *thread)
{
	struct merge_event *event = thread->reporter->first;

	for (int i = 0; event && event->header.thread != thread->reporters_number; i++)
		event = i < WAKE_AHEAD_MAX ? event->next : NULL;
	if (!event || event->header.subsys != TRACE_SUBSYS_SCHED || event->header.event != TRACE_EVENT_SCHED_WAKE)
		return;
	event->is_joined = true;
	prologue_follow(thread->reporter->now, &event->header, false);
}

/* Whether another one goes on with something else than the source has left. */
static bool hand_over(struct merge_events *merge, const struct merge_source *source)
{
	struct merge_thread *thread;
	bool has_jumped = false;
	size_t cursor = 0;

	while ((thread = merge_threads_next(merge->threads, &cursor))) {
		uint8_t phase;

		if (thread->reporter != source || !thread->is_alive)
			continue;
		phase = phase_now(thread);
		if (!merge_threads_hand_over(thread))
			continue;
		if (phase == PHASE_RUNNABLE && phase_now(thread) == PHASE_BLOCKED)
			skip_wake(thread);
		has_jumped |= phase_now(thread) != phase;
	}
	return has_jumped;
}

static void note_running(struct merge_events *merge, const struct merge_source *source)
{
	const struct ev_thread_found *last;
	struct merge_thread *thread;
	size_t cursor = 0;

	while ((thread = merge_threads_next(merge->threads, &cursor))) {
		if (thread->reporter != source || !is_left_alone(thread))
			continue;
		last = recorded_last(thread);
		if (last && last->phase == PHASE_RUNNING)
			merge->ghosts[last->cpu] = thread;
	}
}

void merge_check_end(struct merge_events *merge, struct merge_source *source, uint64_t time_ns)
{
	bool is_silent = source->is_read && !source->emission_count;
	bool is_news = is_silent && !source->is_silent, has_jumped;

	if (!is_silent || source->has_ended || (source->is_silent && source->first))
		return;
	source->is_silent = true;
	source->has_ended = !source->first;
	has_jumped = hand_over(merge, source);
	if (is_news)
		note_running(merge, source);
	if (source->has_ended && source->last_ns + one_end_ns < latest_ns(merge) && others_go_on(merge, source))
		has_jumped |= merge_has_ghosts(merge);
	if (has_jumped) {
		merge_put_gap(merge, time_ns);
		merge_put_list(merge, time_ns);
	}
}

/* The id of who leaves a CPU, if it is not traced. */
static uint32_t tid_before(const struct ev_sched_switch *e)
{
	return thread_is_traced(e->header.thread) ? 0 : e->value;
}

/* It wants to go on, as far as anybody knows. The trace of the switch knew it by its id alone, or not at all. */
void merge_lay_ghost(struct merge_events *merge, struct ev_sched_switch *e)
{
	struct merge_thread *thread = merge->ghosts[e->cpu];
	const struct ev_thread_found *last;
	struct ev_sched_switch leave;

	merge->ghosts[e->cpu] = NULL;
	if (!thread || !is_left_alone(thread) || e->header.thread == thread->number)
		return;
	last = recorded_last(thread);
	if (last && last->tid == tid_before(e)) {
		e->header.thread = thread->number;
		if (thread_is_external(thread->number))
			return;
		e->value = thread_is_traced(e->next) ? 0 : e->object;
		e->object = 0;
		return;
	}
	leave = (struct ev_sched_switch){
		.header = e->header,
		.cpu = e->cpu,
		.syscall = SYSCALL_NONE,
		.value = tid_before(e),
	};
	leave.header.thread = thread->number;
	if (thread_is_external(thread->number)) {
		leave.object = leave.value;
		leave.value = last ? last->tid : 0;
	}
	merge_put(merge, &leave.header);
}
