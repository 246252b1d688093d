/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_switch.h"

#include "base/table.h"
#include "derive/merge_threads.h"
#include "session/external_threads.h"
#include "trace/prologue/prologue.h"

/* The records of one switch may be so far apart: whoever tells first may be made to wait by its machine. */
static const uint64_t apart_ns_max = 10000000;

struct record {
	struct merge_source *source;
	const struct ev_sched_switch *e;
};

/* The ids of both threads, as far as a record says. */
struct sides {
	uint32_t prev, next;
	bool is_prev_known, is_next_known;
};

static bool find_tid(const struct merge_source *source, uint32_t number, uint32_t *tid)
{
	const struct ev_thread_found *thread = prologue_thread(source->now, number);

	*tid = thread ? thread->tid : 0;
	return thread;
}

static struct sides sides_of(const struct record *record)
{
	const struct ev_sched_switch *e = record->e;
	struct sides sides = { .is_prev_known = true, .is_next_known = true };

	if (e->header.thread)
		sides.is_prev_known = find_tid(record->source, e->header.thread, &sides.prev);
	else
		sides.prev = e->value;
	if (e->next)
		sides.is_next_known = find_tid(record->source, e->next, &sides.next);
	else if (!e->header.thread)
		sides.next = e->object;
	else if (e->state == SWITCH_RUNNABLE)
		sides.next = e->value;
	else
		sides.is_next_known = false;
	return sides;
}

static bool is_of_turns(const struct ev_sched_switch *e)
{
	return !e->header.thread && !e->next;
}

/* Who traces the thread that has the CPU may have recorded already that it got it from a hidden one. */
static bool is_after_hidden(const struct record *record)
{
	return record->e->flags & SWITCH_AFTER_HIDDEN || record->source->cpus[record->e->cpu].is_after_hidden;
}

/* What the kernel has hidden before the one switch and not before the other; of turns that is not recorded. */
static bool has_hidden_between(const struct record *a, const struct record *b)
{
	return ((a->e->flags ^ b->e->flags) & SWITCH_AFTER_HIDDEN) && !(is_after_hidden(a) && is_after_hidden(b)) &&
	       !is_of_turns(a->e) && !is_of_turns(b->e);
}

/* What comes in its trace before the record may not have been taken yet: the list of threads, a birth. */
static bool are_seen(const struct merge_source *source, const struct ev_sched_switch *e)
{
	return (!e->header.thread || table_find(source->numbers, e->header.thread)) &&
	       (!e->next || table_find(source->numbers, e->next));
}

/* Two that know nothing of one another's threads still know whom they have seen leave. */
static bool are_same(const struct record *a, const struct record *b)
{
	struct sides x = sides_of(a), y = sides_of(b);

	return !has_hidden_between(a, b) && x.is_prev_known && y.is_prev_known && x.prev == y.prev &&
	       (!x.is_next_known || !y.is_next_known || x.next == y.next);
}

static void note_taken(const struct record *record)
{
	const struct ev_sched_switch *e = record->e;

	record->source->cpus[e->cpu].is_after_hidden = !e->header.thread && e->next && e->flags & SWITCH_AFTER_HIDDEN;
}

/* The next switch of the CPU that was not written yet. */
static struct merge_event *next_switch(const struct merge_source *source, uint16_t cpu)
{
	struct merge_event *event = source->cpus[cpu].first;

	while (event && event->is_joined)
		event = event->next_on_cpu;
	return event;
}

/* The records of one switch that were found so far. */
struct gathered {
	struct record records[MERGE_SOURCES_MAX];
	size_t count;
};

static bool fits(const struct gathered *gathered, const struct record *record)
{
	for (size_t i = 0; i < gathered->count; i++)
		if (gathered->records[i].source == record->source || !are_same(&gathered->records[i], record))
			return false;
	return true;
}

static bool is_about(const struct merge_event *event, uint32_t thread)
{
	const struct ev_header *header = &event->header;

	if (!thread || event->is_joined)
		return false;
	return header->thread == thread ||
	       (header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SWITCH &&
		((const struct ev_sched_switch *)header)->next == thread);
}

/*
 * Whether its trace has more to tell of the threads of the switch before it, all of which is later than what is gathered: then
 * they have done something else first, and it is of a later switch.
 */
static bool is_later(const struct merge_source *source, const struct merge_event *record)
{
	const struct ev_sched_switch *e = (const void *)&record->header;

	for (const struct merge_event *event = source->first; event && event != record; event = event->next)
		if (is_about(event, e->header.thread) || is_about(event, e->next))
			return true;
	return false;
}

/*
 * The nearest record of another trace, if it is of the switch: a CPU's switches follow one another, so
 * that a record of a later one is behind all of this one's. NULL: there is none any more.
 */
static struct merge_event *find_partner(struct merge_source *sources, size_t count, uint64_t until_ns,
					const struct gathered *gathered, struct record *theirs)
{
	const uint16_t cpu = gathered->records[0].e->cpu;
	struct merge_event *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		struct merge_event *event = next_switch(&sources[i], cpu);

		if (event && event->time_ns <= until_ns && (!nearest || event->time_ns < nearest->time_ns)) {
			nearest = event;
			*theirs = (struct record){ &sources[i], (const void *)&event->header };
		}
	}
	if (!nearest || !are_seen(theirs->source, theirs->e) || !fits(gathered, theirs))
		return NULL;
	return is_later(theirs->source, nearest) ? NULL : nearest;
}

static bool gather_one(struct merge_source *sources, size_t count, uint64_t until_ns, struct gathered *gathered)
{
	struct record theirs = { 0 };
	struct merge_event *event = find_partner(sources, count, until_ns, gathered, &theirs);

	if (!event)
		return false;
	event->is_joined = true;
	prologue_follow(theirs.source->now, &event->header, false);
	gathered->records[gathered->count++] = theirs;
	return true;
}

static struct merge_thread *recorded(struct merge_threads *threads, struct merge_source *source, uint32_t number)
{
	struct merge_thread *thread = merge_threads_get(threads, source, number);

	return thread && merge_threads_reports(thread, source, number) ? thread : NULL;
}

/* As of a thread that is not traced. */
static void leave_out(const struct record *record, struct ev_sched_switch *out)
{
	struct sides sides = sides_of(record);

	*out = (struct ev_sched_switch){
		.header = record->e->header,
		.cpu = record->e->cpu,
		.syscall = SYSCALL_NONE,
		.flags = record->e->flags & SWITCH_AFTER_HIDDEN,
		.value = sides.prev,
		.object = sides.next,
	};
	out->header.thread = 0;
}

static bool is_traced(const struct merge_thread *thread)
{
	return thread && thread_is_traced(thread->number);
}

/* Who is not traced, by its id. */
static void name_others(const struct record *record, const struct merge_thread *prev, const struct merge_thread *next,
			struct ev_sched_switch *out)
{
	struct sides sides = sides_of(record);

	if (is_traced(prev)) {
		if (out->state == SWITCH_RUNNABLE)
			out->value = is_traced(next) ? 0 : sides.next;
		return;
	}
	out->value = sides.prev;
	if (is_traced(next))
		out->object = 0;
	else if (sides.is_next_known)
		out->object = sides.next;
}

bool merge_switch(struct merge_source *sources, size_t count, struct merge_threads *threads,
		  struct merge_source *source, const struct merge_event *event, struct ev_sched_switch *out)
{
	const struct record first = { source, (const void *)&event->header }, *leaving = NULL;
	struct merge_thread *prev = NULL, *next = NULL, *thread;
	struct gathered all = { .records = { first }, .count = 1 };
	bool are_turns = true;

	while (gather_one(sources, count, event->time_ns + apart_ns_max, &all))
		;
	for (size_t i = 0; i < all.count; i++) {
		const struct record *record = &all.records[i];

		note_taken(record);
		are_turns &= is_of_turns(record->e);
		thread = recorded(threads, record->source, record->e->header.thread);
		if (thread) {
			prev = thread;
			leaving = record;
		}
		thread = recorded(threads, record->source, record->e->next);
		if (thread)
			next = thread;
	}
	if (!prev && !next && !are_turns)
		return false;
	if (prev)
		*out = *leaving->e;
	else
		leave_out(&first, out);
	out->header.time_ns = first.e->header.time_ns;
	name_others(prev ? leaving : &first, prev, next, out);
	if (prev)
		prev->is_alive = out->state != SWITCH_DEAD;
	out->header.thread = prev ? prev->number : 0;
	out->next = next ? next->number : 0;
	return true;
}
