/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spans/features.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/critical_path.h"
#include "session/session.h"
#include "session/wake_context.h"
#include "states/states.h"
#include "values.h"
#include "waits/file_calls.h"
#include "waits/wait_cause.h"

static void add_part(const struct execution_part *part, struct execution_parts *out)
{
	ARRAY_GROW(out->list, out->count, out->capacity, 64);
	out->list[out->count++] = *part;
}

void execution_parts_add(struct states *states, const struct execution *execution, size_t place,
			 struct execution_parts *out)
{
	struct critical_path path;

	if (execution->thread == execution->begin_thread) {
		add_part(&(struct execution_part){ execution->begin_ns, execution->end_ns, execution->thread, place },
			 out);
		return;
	}
	critical_path_of(states, execution->thread, execution->begin_ns, execution->end_ns, &path);
	for (size_t i = 0; i < path.count; i++) {
		const struct path_part *part = &path.parts[i];

		add_part(&(struct execution_part){ part->begin_ns, part->end_ns, part->thread, place }, out);
	}
	critical_path_fini(&path);
}

void features_of_execution(const struct execution *execution, struct features *out)
{
	out->duration_ns = execution->end_ns - execution->begin_ns;
	out->transfers = execution->transfers;
	out->read_bytes = execution->read_bytes;
	out->written_bytes = execution->written_bytes;
	out->faults = execution->faults;
}

void features_of_states(struct states *states, const struct execution_part *part, struct features *out)
{
	uint64_t from_ns = part->begin_ns, to_ns = part->end_ns;
	struct state_walk walk;
	struct state state;

	states_walk(states, part->thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		unsigned int share = state_share(state.kind, state.value.why);
		uint64_t begin_ns = state.begin_ns > from_ns ? state.begin_ns : from_ns;
		uint64_t end_ns = state.end_ns < to_ns ? state.end_ns : to_ns;

		if (end_ns <= begin_ns)
			continue;
		out->ns[share] += end_ns - begin_ns;
		out->count[share]++;
	}
}

/* --- What is counted as it comes -------------------------------------------------------------- */

/* The parts of executions that one thread has. */
struct thread_parts {
	size_t *list, count, capacity; /* of all, by their beginnings */
	size_t next;                   /* the first one that has not begun */
	size_t *open, open_count;      /* those that last */
};

struct feature_counts {
	const struct execution_parts *parts;
	struct features *features;
	struct table *threads; /* struct thread_parts, by number + 1 */
};

static void note_part(struct feature_counts *counts, size_t i)
{
	uint64_t key = counts->parts->list[i].thread + 1ull;
	struct thread_parts *thread = table_find(counts->threads, key);

	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		table_put(counts->threads, key, thread);
	}
	if (thread->count == thread->capacity) {
		thread->capacity = thread->capacity ? 2 * thread->capacity : 4;
		thread->list = xrealloc(thread->list, thread->capacity, sizeof(*thread->list));
		thread->open = xrealloc(thread->open, thread->capacity, sizeof(*thread->open));
	}
	thread->list[thread->count++] = i;
}

/* Those of a thread that a moment lies in; NULL: none. */
static const struct thread_parts *at(struct feature_counts *counts, uint32_t number, uint64_t time_ns)
{
	const struct execution_part *all = counts->parts->list;
	struct thread_parts *thread = table_find(counts->threads, number + 1ull);
	size_t kept = 0;

	if (!thread)
		return NULL;
	while (thread->next < thread->count && all[thread->list[thread->next]].begin_ns <= time_ns)
		thread->open[thread->open_count++] = thread->list[thread->next++];
	for (size_t i = 0; i < thread->open_count; i++)
		if (all[thread->open[i]].end_ns > time_ns)
			thread->open[kept++] = thread->open[i];
	thread->open_count = kept;
	return kept ? thread : NULL;
}

static void count_at(struct feature_counts *counts, uint32_t number, uint64_t time_ns, const struct features *more)
{
	const struct thread_parts *thread = at(counts, number, time_ns);

	for (size_t i = 0; thread && i < thread->open_count; i++) {
		struct features *features = &counts->features[counts->parts->list[thread->open[i]].execution];

		features->io_count += more->io_count;
		features->io_bytes += more->io_bytes;
		features->wakes += more->wakes;
		features->interrupts += more->interrupts;
		features->softirqs += more->softirqs;
		features->block_count += more->block_count;
		features->block_bytes += more->block_bytes;
	}
}

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct features more = { .io_count = 1 };
	struct wait_facts facts;

	if (!header->thread || (e->state != SWITCH_SLEEPING && e->state != SWITCH_BLOCKED))
		return;
	facts = wait_facts_of(e);
	if (file_direction_of(&facts) == FILE_NEITHER)
		return;
	file_asked_bytes(&facts, &more.io_bytes);
	count_at(data, header->thread, header->time_ns, &more);
}

static void on_wake(void *data, const struct ev_header *header)
{
	const struct ev_sched_wake *e = (const struct ev_sched_wake *)header;

	if (e->waker && wake_context_of(e) == WAKE_THREAD)
		count_at(data, e->waker, header->time_ns, &(struct features){ .wakes = 1 });
}

static void on_interrupt(void *data, const struct ev_header *header)
{
	count_at(data, header->thread, header->time_ns, &(struct features){ .interrupts = 1 });
}

static void on_softirq(void *data, const struct ev_header *header)
{
	count_at(data, header->thread, header->time_ns, &(struct features){ .softirqs = 1 });
}

static void on_block_issue(void *data, const struct ev_header *header)
{
	const struct ev_system_block_issue *e = (const struct ev_system_block_issue *)header;

	count_at(data, header->thread, header->time_ns,
		 &(struct features){
			 .block_count = 1,
			 .block_bytes = e->bytes,
		 });
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_WAKE, on_wake },
	{ EV_SYSTEM_INTERRUPT, on_interrupt },
	{ EV_SYSTEM_SOFTIRQ, on_softirq },
	{ EV_SYSTEM_BLOCK_ISSUE, on_block_issue },
	{ 0, NULL },
};

struct feature_counts *feature_counts_new(struct session *session, const struct execution_parts *parts,
					  struct features *features)
{
	struct feature_counts *counts = xcalloc(1, sizeof(*counts));

	counts->parts = parts;
	counts->features = features;
	counts->threads = table_new();
	for (size_t i = 0; i < parts->count; i++)
		note_part(counts, i);
	session_subscribe(session, handlers, counts);
	return counts;
}

void feature_counts_free(struct feature_counts *counts)
{
	struct thread_parts *thread;
	size_t cursor = 0;

	if (!counts)
		return;
	while ((thread = table_next(counts->threads, &cursor))) {
		free(thread->list);
		free(thread->open);
		free(thread);
	}
	table_free(counts->threads);
	free(counts);
}
