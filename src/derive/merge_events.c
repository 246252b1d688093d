/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "derive/merge_events_internal.h"
#include "derive/merge_spans.h"
#include "derive/merge_switch.h"
#include "engine/carried_names.h"
#include "session/event_kinds.h"
#include "session/external_threads.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum { PROCESSES_MAX = 1 << 20 };

static const uint64_t ahead_ns = 10000000; /* as far as records of one switch may be apart */

struct merge_events *merge_events_new(struct merge_source *sources, size_t count, struct trace_writer *writer,
				      struct space_numbers *written, struct merge_peers *peers)
{
	struct merge_events *merge = xcalloc(1, sizeof(*merge));

	merge->sources = sources;
	merge->count = count;
	merge->writer = writer;
	merge->written = written;
	merge->threads = merge_threads_new();
	merge->processes = table_new();
	merge->peers = peers;
	merge->end_ns = UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		merge->has_hosts |= sources[i].host != sources[0].host;
	return merge;
}

void merge_events_free(struct merge_events *merge)
{
	if (!merge)
		return;
	merge_threads_free(merge->threads);
	table_free(merge->processes);
	merge_spans_fini(&merge->spans);
	free(merge->copy);
	free(merge);
}

/* --- Events of each kind ------------------------------------------------------------------------- */

static void put_collect(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	switch (header->event) {
	case TRACE_EVENT_COLLECT_END:
		free(source->end);
		source->end = memcpy(xcalloc(1, event_bytes(header)), header, event_bytes(header));
		break;
	case TRACE_EVENT_COLLECT_GAP:
		source->is_in_gap = source->is_list_damaged = true;
		merge_put(merge, header);
		break;
	case TRACE_EVENT_COLLECT_SYNC_BEGIN:
		source->is_list_damaged = false;
		break;
	case TRACE_EVENT_COLLECT_SYNC_END:
		merge_end_list(merge, source, header->time_ns);
		break;
	}
}

static void put_own(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	struct merge_thread *thread = merge_recorded(merge, source, header);

	if (thread || !header->thread)
		merge_put(merge, merge_copy_for(merge, header, thread));
}

static uint32_t parent_of(struct merge_events *merge, struct merge_source *source, uint32_t parent)
{
	const struct merge_thread *thread = merge_threads_get(merge->threads, source, parent);

	return thread ? thread->number : 0;
}

static void put_described(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	bool is_birth = header->event == TRACE_EVENT_THREAD_BORN, is_recorded;
	struct merge_thread *thread;
	struct ev_header *copy;

	if (!header->thread)
		return;
	merge_threads_meet(merge->threads, source, header);
	thread = merge_threads_get(merge->threads, source, header->thread);
	if (!thread)
		return;
	is_recorded = !is_birth && merge_list_is_known(merge, source, thread, (const void *)header);
	if (!merge_threads_reports(thread, source, header->thread) || is_recorded)
		return;
	thread->is_alive = true;
	copy = merge_copy_for(merge, header, thread);
	if (is_birth) {
		struct ev_thread_born *e = (void *)copy;

		e->parent = parent_of(merge, source, e->parent);
	} else {
		struct ev_thread_found *e = (void *)copy;

		e->parent = parent_of(merge, source, e->parent);
		merge_list_correct(merge, source, header->thread, e);
		thread->is_alive = merge_thread_lives(e);
	}
	merge_put(merge, copy);
}

static void put_thread(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	switch (header->event) {
	case TRACE_EVENT_THREAD_BORN:
	case TRACE_EVENT_THREAD_FOUND:
		put_described(merge, source, header);
		break;
	case TRACE_EVENT_THREAD_EXEC:
		if (header->thread)
			merge_threads_rename(merge->threads, source, (const void *)header);
		put_own(merge, source, header);
		break;
	default:
		put_own(merge, source, header);
	}
}

/* All pinches see the same of a CPU. */
static void put_hidden(struct merge_events *merge, struct merge_source *source, const struct ev_sched_hidden *e)
{
	struct merge_hidden *last = &merge->hidden[e->cpu];

	if (last->source && last->source != source && last->tid == e->tid &&
	    e->header.time_ns - last->time_ns < ahead_ns)
		return;
	*last = (struct merge_hidden){ source, e->header.time_ns, e->tid };
	merge_put(merge, &e->header);
}

static void put_switch(struct merge_events *merge, struct merge_source *source, const struct merge_event *event)
{
	struct ev_sched_switch e;

	if (event->is_joined || !merge_switch(merge->sources, merge->count, merge->threads, source, event, &e))
		return;
	merge_lay_ghost(merge, &e);
	merge_note_wait(merge, &e);
	merge_put(merge, &e.header);
	merge->running[e.cpu] = e.next;
}

static void put_sched(struct merge_events *merge, struct merge_source *source, const struct merge_event *event)
{
	switch (event->header.event) {
	case TRACE_EVENT_SCHED_SWITCH:
		put_switch(merge, source, event);
		break;
	case TRACE_EVENT_SCHED_WAKE:
		merge_put_wake(merge, source, event);
		break;
	case TRACE_EVENT_SCHED_HIDDEN:
		put_hidden(merge, source, (const void *)&event->header);
		break;
	case TRACE_EVENT_SCHED_READY:
		merge_put_ready(merge, source, (const void *)&event->header);
		break;
	default:
		put_own(merge, source, &event->header);
	}
}

/* What a process maps, one source tells at a time: to begin a program twice would forget what it mapped. */
static void put_space(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	uint64_t key = ((const struct ev_space_exit *)header)->pid + 1ull;
	const struct merge_source *reporter = table_find(merge->processes, key);

	if ((!reporter && table_count(merge->processes) < PROCESSES_MAX) || (reporter && reporter->has_ended)) {
		table_put(merge->processes, key, source);
		reporter = source;
	}
	if (reporter == source || header->event == TRACE_EVENT_SPACE_PYTHON_CODE ||
	    header->event == TRACE_EVENT_SPACE_MANAGED_CODE)
		merge_put(merge,
			  merge_copy_for(merge, header, merge_threads_get(merge->threads, source, header->thread)));
}

/* All pinches on a host see the same of it: one says. */
static void put_system(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	struct merge_thread *thread = merge_threads_get(merge->threads, source, header->thread);
	const struct merge_source **reporter = &merge->system_reporters[source->host->number];

	if (!*reporter || (*reporter)->has_ended)
		*reporter = source;
	if (*reporter == source)
		merge_put(merge, merge_copy_for(merge, header, merge_threads_as_traced(thread)));
}

/* Two pinches may have seen the same wait: of who is not traced, too. */
static void put_klock(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	const struct merge_source **reporter = &merge->klock_reporters[source->host->number];
	bool is_wait = header->event == TRACE_EVENT_KLOCK_WAIT;

	if (is_wait && !header->thread && (!*reporter || (*reporter)->has_ended))
		*reporter = source;
	if (is_wait && !header->thread && *reporter != source)
		return;
	put_own(merge, source, header);
}

static void put_span(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	struct merge_thread *thread = merge_threads_get(merge->threads, source, header->thread);
	struct ev_header *copy;
	int number;

	if (header->event == TRACE_EVENT_SPAN_NAME)
		number = merge_spans_add(&merge->spans, source, (const void *)header);
	else
		number = merge_spans_find(source, thread, ((const struct ev_span_begin *)header)->span);
	if (number < 0)
		return;
	copy = merge_copy_for(merge, header, thread);
	if (header->event == TRACE_EVENT_SPAN_NAME)
		((struct ev_span_name *)copy)->span = number;
	else
		((struct ev_span_begin *)copy)->span = number;
	merge_put(merge, copy);
}

/* Samples that times were changed by would change them again. */
static void put_clock(struct merge_events *merge, struct merge_source *source, const struct ev_header *header)
{
	if (merge->has_hosts)
		return;
	merge_put(merge, merge_copy_for(merge, header, merge_threads_get(merge->threads, source, header->thread)));
}

static void put_event(struct merge_events *merge, struct merge_source *source, const struct merge_event *event)
{
	const struct ev_header *header = &event->header;

	/* What the end of a list changes is written in one with it. */
	if (header->subsys == TRACE_SUBSYS_COLLECT)
		prologue_follow(source->now, header, false);
	switch (header->subsys) {
	case TRACE_SUBSYS_SCHED:
		put_sched(merge, source, event);
		break;
	case TRACE_SUBSYS_THREAD:
		put_thread(merge, source, header);
		break;
	case TRACE_SUBSYS_SPACE:
		put_space(merge, source, header);
		break;
	case TRACE_SUBSYS_SYSTEM:
		put_system(merge, source, header);
		break;
	case TRACE_SUBSYS_SPAN:
		put_span(merge, source, header);
		break;
	case TRACE_SUBSYS_KLOCK:
		put_klock(merge, source, header);
		break;
	case TRACE_SUBSYS_CLOCK:
		put_clock(merge, source, header);
		break;
	case TRACE_SUBSYS_COLLECT:
		put_collect(merge, source, header);
		break;
	default:
		merge_put(merge,
			  merge_copy_for(merge, header, merge_threads_get(merge->threads, source, header->thread)));
	}
	if (header->subsys != TRACE_SUBSYS_COLLECT && !event->is_joined)
		prologue_follow(source->now, header, false);
	carried_names_follow(source->names, header);
}

/* --- All of them ---------------------------------------------------------------------------------- */

/* Of two that are as early the first one. NULL: all were taken. */
static struct merge_source *earliest(struct merge_events *merge)
{
	struct merge_source *found = NULL;

	for (size_t i = 0; i < merge->count; i++) {
		struct merge_source *source = &merge->sources[i];

		merge_source_fill(source, 0);
		if (source->first && (!found || source->first->time_ns < found->first->time_ns))
			found = source;
	}
	for (size_t i = 0; found && i < merge->count; i++)
		merge_source_fill(&merge->sources[i], found->first->time_ns + ahead_ns);
	return found;
}

static void take_first(struct merge_events *merge, struct merge_source *source)
{
	struct merge_event *event = merge_source_take(source);
	bool is_after = event->time_ns > merge->end_ns;

	if (!is_after || merge_is_told_after(merge, source, event)) {
		merge->last_ns = event->time_ns;
		put_event(merge, source, event);
	}
	free(event);
	merge_source_fill(source, 0);
	if (!is_after)
		merge_check_end(merge, source, merge->last_ns);
}

void merge_events_all(struct merge_events *merge, uint64_t end_ns)
{
	struct merge_source *source;

	merge->end_ns = end_ns;
	while ((source = earliest(merge)) && !trace_writer_error(merge->writer))
		take_first(merge, source);
}

/* --- Of those that grow --------------------------------------------------------------------------- */

void merge_events_join(struct merge_events *merge)
{
	merge->sources[merge->count++].floor_ns = merge->last_ns;
}

static void raise_floor(struct merge_events *merge)
{
	for (size_t i = 0; i < merge->count; i++)
		merge->sources[i].floor_ns = merge->last_ns;
}

bool merge_events_have(struct merge_events *merge, uint64_t until_ns)
{
	const struct merge_source *source = earliest(merge);

	return source && source->first->time_ns <= until_ns;
}

void merge_events_until(struct merge_events *merge, uint64_t until_ns)
{
	struct merge_source *source;

	while ((source = earliest(merge)) && source->first->time_ns <= until_ns && !trace_writer_error(merge->writer)) {
		take_first(merge, source);
		raise_floor(merge);
	}
}

void merge_events_end(struct merge_events *merge, struct merge_source *source, uint64_t now_ns)
{
	merge->now_ns = now_ns;
	source->is_growing = false;
	merge_source_fill(source, 0);
	if (!source->first)
		merge_check_end(merge, source, merge->last_ns);
}
