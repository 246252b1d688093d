/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_walk.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "export/export_choice.h"
#include "export/export_files.h"
#include "export/export_names.h"
#include "query/trace_states.h"
#include "session/external_threads.h"
#include "session/hosts.h"
#include "session/threads.h"

/* --- Who there is ----------------------------------------------------------------------------- */

static void add_thread(void *data, uint32_t number)
{
	struct export_walk *walk = data;
	const struct thread *thread = threads_find(walk->all->threads, number);

	if (!thread || !thread_is_traced(number))
		return;
	ARRAY_GROW(walk->threads, walk->count, walk->capacity, 64);
	walk->threads[walk->count++] = (struct walked_thread){
		.carry = 1u << 31, /* a half: what a thread has in all is rounded, as in the report */
		.thread = {
			.number = number,
			.tid = thread->tid,
			.pid = thread->pid,
			.ns_tid = thread->ns_tid,
			.ns_pid = thread->ns_pid,
			.name = thread->name,
			.host = hosts_name(walk->all->hosts, thread->pid),
		},
	};
	table_put(walk->by_number, number, (void *)(uintptr_t)walk->count);
}

/* A process is called as its first thread is; one whose first thread is not known, as any of its threads. */
static void name_processes(struct export_walk *walk)
{
	struct table *names = table_new();

	for (size_t i = 0; i < walk->count; i++) {
		const struct export_thread *thread = &walk->threads[i].thread;

		if (thread->tid == thread->pid || !table_find(names, thread->pid))
			table_put(names, thread->pid, (void *)thread->name);
	}
	for (size_t i = 0; i < walk->count; i++)
		walk->threads[i].thread.process = table_find(names, walk->threads[i].thread.pid);
	table_free(names);
}

static void choose_threads(struct export_walk *walk)
{
	for (size_t i = 0; i < walk->options->thread_count; i++) {
		uintptr_t place = (uintptr_t)table_find(walk->by_number, walk->options->threads[i]);

		if (place)
			walk->threads[place - 1].is_chosen = true;
	}
}

static void announce(struct export_walk *walk, struct walked_thread *thread)
{
	if (!thread->is_announced && walk->format->thread)
		walk->format->thread(walk->data, &thread->thread);
	thread->is_announced = true;
}

static struct walked_thread *find(struct export_walk *walk, uint32_t number)
{
	uintptr_t place = (uintptr_t)table_find(walk->by_number, number);

	return place ? &walk->threads[place - 1] : NULL;
}

struct walked_thread *export_walk_find(struct export_walk *walk, uint32_t number)
{
	struct walked_thread *thread = find(walk, number);

	if (!thread || !thread->is_chosen)
		return NULL;
	announce(walk, thread);
	return thread;
}

/* --- Time ------------------------------------------------------------------------------------- */

uint64_t export_walk_cmetric_ns(const struct export_walk *walk, const struct walked_thread *thread)
{
	return (walk->parallelism.share - thread->begin_share) >> 32;
}

void export_walk_mark(struct export_walk *walk, struct walked_thread *thread)
{
	uint64_t cmetric_ns = export_walk_cmetric_ns(walk, thread);

	if (thread->is_state_chosen) {
		thread->unsampled_ns += walk->now_ns - thread->mark_ns;
		thread->unsampled_cmetric_ns += cmetric_ns - thread->mark_cmetric_ns;
	}
	thread->mark_ns = walk->now_ns;
	thread->mark_cmetric_ns = cmetric_ns;
}

static void tell_counters(struct export_walk *walk)
{
	struct export_counters *told = &walk->told;

	if (!walk->format->counters || (told->running == walk->running && told->runnable == walk->runnable))
		return;
	*told = (struct export_counters){ walk->now_ns, walk->running, walk->runnable };
	walk->format->counters(walk->data, told);
}

void export_walk_advance(struct export_walk *walk, uint64_t now_ns)
{
	if (now_ns <= walk->now_ns)
		return;
	tell_counters(walk);
	parallelism_advance(&walk->parallelism, now_ns);
	walk->now_ns = now_ns;
}

/* --- States ----------------------------------------------------------------------------------- */

static bool is_running(const struct state *state)
{
	return state->kind == STATE_RUNNING || state->kind == STATE_SPINNING;
}

/* The next state of the thread with a part in the range. False: there is none. */
static bool fetch(const struct export_walk *walk, struct walked_thread *thread)
{
	const struct export_options *options = walk->options;

	do {
		thread->has_state = state_walk_next(&thread->walk, &thread->state);
		if (!thread->has_state)
			return false;
		if (thread->state.begin_ns < options->from_ns)
			thread->state.begin_ns = options->from_ns;
	} while (thread->state.end_ns <= thread->state.begin_ns);
	return true;
}

static void open_state(struct export_walk *walk, struct walked_thread *thread)
{
	bool is_active = is_running(&thread->state) || thread->state.kind == STATE_RUNNABLE;

	thread->is_open = true;
	thread->is_state_chosen =
		thread->is_chosen && export_choice_has(walk->options->choice, thread->thread.number, &thread->state);
	thread->begin_share = walk->parallelism.share - thread->carry;
	thread->mark_ns = walk->now_ns;
	thread->mark_cmetric_ns = 0;
	walk->running += is_running(&thread->state);
	walk->runnable += thread->state.kind == STATE_RUNNABLE;
	parallelism_change(&walk->parallelism, is_active, 1);
}

static void tell_wake(struct export_walk *walk, struct walked_thread *woken)
{
	const struct state_value *ended = &woken->state.ended;
	struct walked_thread *waker;

	woken->woken_by = 0;
	if (woken->state.kind != STATE_BLOCKED || ended->why != READY_WOKEN || !ended->thread ||
	    woken->state.end_ns >= walk->options->to_ns || !walk->format->wake)
		return;
	waker = find(walk, ended->thread);
	if (!waker)
		return;
	announce(walk, waker);
	woken->woken_by = ++walk->counts->wakes;
	walk->format->wake(walk->data, &(struct export_wake){
					       .number = woken->woken_by,
					       .time_ns = woken->state.end_ns,
					       .waker = &waker->thread,
					       .woken = &woken->thread,
				       });
}

static void close_state(struct export_walk *walk, struct walked_thread *thread)
{
	bool is_active = is_running(&thread->state) || thread->state.kind == STATE_RUNNABLE;

	thread->is_open = false;
	if (is_running(&thread->state))
		export_walk_mark(walk, thread);
	if (is_active)
		thread->carry = (walk->parallelism.share - thread->begin_share) & UINT32_MAX;
	walk->running -= is_running(&thread->state);
	walk->runnable -= thread->state.kind == STATE_RUNNABLE;
	parallelism_change(&walk->parallelism, -(int)is_active, -1);
	if (thread->is_state_chosen) {
		announce(walk, thread);
		walk->on_state(walk, thread);
		tell_wake(walk, thread);
	} else {
		thread->woken_by = 0;
	}
	thread->is_state_chosen = false;
}

uint64_t export_walk_next_ns(const struct export_walk *walk)
{
	return walk->heap_count ? walk->heap[0].time_ns : UINT64_MAX;
}

static uint64_t end_ns(const struct export_walk *walk, const struct walked_thread *thread)
{
	return thread->state.end_ns < walk->options->to_ns ? thread->state.end_ns : walk->options->to_ns;
}

void export_walk_step(struct export_walk *walk)
{
	struct heap_entry *top = &walk->heap[0];
	struct walked_thread *thread = &walk->threads[top->number];

	export_walk_advance(walk, top->time_ns);
	if (!thread->is_open) {
		open_state(walk, thread);
		top->time_ns = end_ns(walk, thread);
	} else {
		close_state(walk, thread);
		if (fetch(walk, thread) && thread->state.begin_ns < walk->options->to_ns)
			top->time_ns = thread->state.begin_ns;
		else
			walk->heap[0] = walk->heap[--walk->heap_count];
	}
	if (walk->heap_count)
		heap_sift_down(walk->heap, walk->heap_count, 0);
}

/* --- The whole -------------------------------------------------------------------------------- */

void export_walk_init(struct export_walk *walk, const struct trace_states *all, const struct export_options *options,
		      void (*on_state)(struct export_walk *walk, struct walked_thread *thread),
		      struct export_counts *counts)
{
	*walk = (struct export_walk){
		.all = all,
		.options = options,
		.format = options->format,
		.on_state = on_state,
		.counts = counts,
		.names = export_names_new(options->labels, all->threads),
		.files = export_files_new(),
		.by_number = table_new(),
	};
	states_each_thread(all->states, add_thread, walk);
	name_processes(walk);
	choose_threads(walk);
	walk->heap = xcalloc(walk->count + 1, sizeof(*walk->heap));
	for (size_t i = 0; i < walk->count; i++) {
		struct walked_thread *thread = &walk->threads[i];

		states_walk(all->states, thread->thread.number, options->from_ns, options->to_ns, &thread->walk);
		if (fetch(walk, thread) && thread->state.begin_ns < options->to_ns)
			walk->heap[walk->heap_count++] = (struct heap_entry){ thread->state.begin_ns, i };
	}
	heap_make(walk->heap, walk->heap_count);
	walk->now_ns = export_walk_next_ns(walk);
	parallelism_advance(&walk->parallelism, walk->now_ns);
}

void export_walk_fini(struct export_walk *walk)
{
	export_names_free(walk->names);
	export_files_free(walk->files);
	parallelism_fini(&walk->parallelism);
	table_free(walk->by_number);
	free(walk->threads);
	free(walk->heap);
}
