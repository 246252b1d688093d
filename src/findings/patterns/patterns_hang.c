/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of processes that hang: each of their living threads waits without a limit of time for what only another one
 * of them could signal, and no thread is left that could.
 */
#include "findings/patterns/draft.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "account/criticality.h"
#include "base/table.h"
#include "findings/parts/findings_waits.h"
#include "findings/parts/stuck.h"

/*
 * Of one thread alone it cannot be told whether it waits for a signal. What signals by a timer, for a moment, leaves
 * nobody else either: it must have lasted so long, or for half of what was traced.
 */
enum { HANG_THREADS_MIN = 2, HANG_NS_MIN = 50000000, HANG_NS_LONG = 1000000000, TITLE_PLACES_MAX = 3 };

/* A process of which threads live. */
struct process {
	uint32_t pid;
	size_t alive_count, inner_count;
	uint64_t hung_since_ns, end_ns; /* the last one of its waits began then */
	double lost_ns;
	const char *name;
};

/* Threads that wait at one place for one thing. */
struct place {
	const struct wait_lasting *wait; /* the one that began last */
	const char *object, *where;
	struct wait_meaning meaning;
	size_t count;
};

/* Also those that are in no wait: they are what could still signal. */
static void add_living(struct findings *findings, struct table *processes)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		const struct thread *thread = metrics->thread;
		struct process *process;

		if (!metrics->is_alive || !thread)
			continue;
		process = table_find(processes, thread->pid);
		if (!process) {
			process = arena_alloc(findings->arena, sizeof(*process));
			process->pid = thread->pid;
			table_put(processes, thread->pid, process);
		}
		process->alive_count++;
		if (!process->name || thread->tid == thread->pid)
			process->name = arena_strdup(findings->arena, thread->name);
	}
}

/* Whether it waits for the end of a thread of its process: the kernel clears that one's id, and wakes it. */
static bool is_join(const struct wait_facts *facts, const struct table *tids, uint32_t pid)
{
	return wait_futex_command(facts) == FUTEX_WAIT_BITSET && facts->value &&
	       table_find(tids, (uint64_t)pid << 32 | facts->value);
}

/* Whether only a thread of its own process can end it. */
static bool is_inner(const struct wait_lasting *wait, const struct table *tids)
{
	const struct wait_facts *facts = &wait->facts;

	if (!wait_has_futex(facts) || wait_is_in_file(facts) || !facts->is_endless)
		return false;
	return facts->operation & FUTEX_PRIVATE_FLAG || is_join(facts, tids, wait->pid);
}

static void add_waits(struct findings *findings, struct table *processes)
{
	struct table *tids = table_new();
	const struct thread_metrics *metrics;
	const struct wait_lasting *wait;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor)))
		if (metrics->is_alive && metrics->thread)
			table_put(tids, (uint64_t)metrics->thread->pid << 32 | metrics->thread->ns_tid,
				  (void *)metrics->thread);
	for (cursor = 0; (wait = waits_next_lasting(findings->input.waits, &cursor));) {
		struct process *process = table_find(processes, wait->pid);

		if (!process || wait->is_killed || !is_inner(wait, tids))
			continue;
		process->inner_count++;
		process->lost_ns += wait->end_ns - wait->begin_ns;
		process->end_ns = wait->end_ns;
		if (wait->begin_ns > process->hung_since_ns)
			process->hung_since_ns = wait->begin_ns;
	}
	table_free(tids);
}

/* Those that are in a cycle, or behind one, have a finding that says more. */
static bool is_deadlocked(const struct findings *findings, uint32_t pid)
{
	const struct stuck *stuck = findings->stuck;

	for (size_t i = 0; stuck->cycle_count && i < stuck->count; i++)
		if (stuck->waits[i].leads_to && stuck->waits[i].wait->pid == pid)
			return true;
	return false;
}

static bool is_hung(const struct findings *findings, const struct process *process)
{
	uint64_t hung_ns = process->end_ns > process->hung_since_ns ? process->end_ns - process->hung_since_ns : 0;

	if (process->alive_count < HANG_THREADS_MIN || process->inner_count != process->alive_count)
		return false;
	return hung_ns >= HANG_NS_MIN && (hung_ns >= HANG_NS_LONG || 2 * hung_ns >= findings->report.target.wall_ns) &&
	       !is_deadlocked(findings, process->pid);
}

/* --- Words --------------------------------------------------------------------------------------- */

static const char *where_of(struct findings *findings, const struct wait_lasting *wait)
{
	const struct report_frame *frames;
	size_t count = words_path_frames(findings, wait->path, &frames);

	return words_place(findings, frames, count);
}

static struct wait_meaning meaning_of(struct findings *findings, const struct wait_lasting *wait)
{
	return path_names_meaning(findings->names, wait->pid, wait->begin_ns, wait->path ? wait->path->stack : 0,
				  &wait->facts, wait->cause);
}

static bool is_same(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

static int places_by_begin(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->wait->begin_ns != y->wait->begin_ns)
		return x->wait->begin_ns < y->wait->begin_ns ? 1 : -1;
	return x->wait->ns_tid < y->wait->ns_tid ? -1 : x->wait->ns_tid > y->wait->ns_tid;
}

/* The one at which a thread began to wait last comes first: what it waits for had not come until then. */
static struct place *places_of(struct findings *findings, const struct process *process, size_t *count)
{
	struct place *places = arena_alloc(findings->arena, process->alive_count * sizeof(*places));
	const struct wait_lasting *wait;
	size_t cursor = 0;

	*count = 0;
	while ((wait = waits_next_lasting(findings->input.waits, &cursor))) {
		struct place place = { .wait = wait, .count = 1 };
		size_t i = 0;

		if (wait->pid != process->pid || wait->is_killed)
			continue;
		place.meaning = meaning_of(findings, wait);
		place.where = where_of(findings, wait);
		place.object = object_name(&findings->objects, wait->pid, wait->begin_ns, &wait->facts, wait->cause,
					   place.meaning.cause);
		while (i < *count &&
		       !(is_same(places[i].where, place.where) && is_same(places[i].object, place.object) &&
			 places[i].meaning.cause == place.meaning.cause))
			i++;
		if (i == *count) {
			places[(*count)++] = place;
			continue;
		}
		places[i].count++;
		if (wait->begin_ns > places[i].wait->begin_ns)
			places[i].wait = wait;
	}
	qsort(places, *count, sizeof(*places), places_by_begin);
	return places;
}

static const char *who_of(struct findings *findings, const struct place *place)
{
	if (place->count == 1)
		return arena_strdup(findings->arena, place->wait->name);
	return arena_printf(findings->arena, "%zu threads (%s)", place->count,
			    findings_group_name(findings, place->wait->name));
}

static const char *place_text(struct findings *findings, const struct place *place)
{
	const char *kind = place->meaning.lock_kind;

	if (!kind || !strcmp(kind, "futex"))
		kind = wait_cause_name(place->meaning.cause);
	return arena_printf(
		findings->arena, "%s wait%s for %s%s%s%s%s", who_of(findings, place), place->count == 1 ? "s" : "",
		place->meaning.cause == CAUSE_JOIN ? "the end of a thread"
		: place->object                    ? kind
						   : "a ",
		place->meaning.cause == CAUSE_JOIN ? ""
		: place->object                    ? " "
						   : kind,
		place->meaning.cause == CAUSE_JOIN || !place->object ? "" : words_object(findings, place->object),
		place->where ? " in " : "", place->where ? place->where : "");
}

static const char *title_of(struct findings *findings, const struct process *process, const struct place *places,
			    size_t count)
{
	const char *out = "";

	for (size_t i = 0; i < count && i < TITLE_PLACES_MAX; i++)
		out = arena_printf(findings->arena, "%s%s%s", out, i ? ", " : "", place_text(findings, &places[i]));
	return arena_printf(findings->arena, "hang: nobody is left to wake the %zu threads of %s: %s%s",
			    process->alive_count, process->name, out, count > TITLE_PLACES_MAX ? ", and so on" : "");
}

static void say_place(struct findings *findings, struct report_finding *row, const struct place *place)
{
	const struct wait_lasting *wait = place->wait;
	const char *path = words_path(findings, wait->path);

	draft_say(findings, row, "%s wait%s %s%s%s%s", who_of(findings, place), place->count == 1 ? "s" : "",
		  wait->is_found ? "since before tracing began" : "for ",
		  wait->is_found ? "" : words_duration(findings, wait->end_ns - wait->begin_ns), path ? ", in " : "",
		  path ? path : "");
}

static uint32_t wait_rank_of(const struct findings *findings, const struct place *place)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->wait_count; i++)
		if (report->waits[i].cause == place->meaning.cause && is_same(report->waits[i].object, place->object))
			return i + 1;
	return 0;
}

static void add_hang(struct findings *findings, struct draft *draft, const struct process *process)
{
	size_t count;
	const struct place *places = places_of(findings, process, &count);
	/* Such waits seem idle, and are no part of the busy time then. */
	double all_ns = findings->report.balance.threads.busy_ns + process->lost_ns;
	struct report_finding *row =
		draft_add(findings, draft, PATTERN_HANG, places[0].meaning.cause, draft_share(process->lost_ns, all_ns),
			  "%s", title_of(findings, process, places, count));

	if (!row)
		return;
	row->wait_rank = wait_rank_of(findings, &places[0]);
	row->object = places[0].object ? words_object(findings, places[0].object) : NULL;
	draft_say(
		findings, row,
		"for %s all of them have waited for each other, without a limit of time: only a signal could end that",
		words_duration(findings, process->end_ns - process->hung_since_ns));
	for (size_t i = 0; i < count; i++)
		say_place(findings, row, &places[i]);
}

void patterns_add_hangs(struct findings *findings, struct draft *draft)
{
	struct table *processes;
	const struct process *process;
	size_t cursor = 0, hung_count = 0;

	/* A thread may go on whose wake-up was lost. */
	if (findings->report.losses.gaps)
		return;
	processes = table_new();
	add_living(findings, processes);
	add_waits(findings, processes);
	while ((process = table_next(processes, &cursor))) {
		if (!is_hung(findings, process))
			continue;
		add_hang(findings, draft, process);
		hung_count++;
	}
	draft->is_hung = hung_count && hung_count == table_count(processes);
	table_free(processes);
}
