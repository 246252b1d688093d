/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of threads that wait for each other for ever. */
#include "findings/patterns/draft.h"

#include <assert.h>
#include <string.h>

#include "findings/parts/findings_waits.h"
#include "findings/parts/stuck.h"
#include "stacks/fold.h"

enum { TITLE_THREADS_MAX = 4, BEHIND_NAMED = 3 };

/* The one of a cycle that was the last to begin: the others had waited for it. */
static const struct stuck_wait *find_last(const struct stuck *stuck, uint32_t cycle)
{
	const struct stuck_wait *last = NULL;

	for (size_t i = 0; i < stuck->count; i++)
		if (stuck->waits[i].cycle == cycle && (!last || stuck->waits[i].wait->begin_ns > last->wait->begin_ns))
			last = &stuck->waits[i];
	assert(last); /* no cycle is empty */
	return last;
}

static size_t count_cycle(const struct stuck_wait *first)
{
	size_t count = 1;

	for (const struct stuck_wait *at = first->holder; at != first; at = at->holder)
		count++;
	return count;
}

/* A name that others of the cycle have too is shown with its id. */
static const char *thread_text(struct findings *findings, const struct stuck_wait *stuck)
{
	const struct wait_lasting *wait = stuck->wait;

	for (const struct stuck_wait *at = stuck->holder; at && at != stuck && at->cycle; at = at->holder)
		if (!strcmp(at->wait->name, wait->name))
			return arena_printf(findings->arena, "%s (%u)", wait->name, wait->ns_tid);
	return arena_strdup(findings->arena, wait->name);
}

static const char *lock_text(struct findings *findings, const struct stuck_wait *stuck)
{
	const struct wait_lasting *wait = stuck->wait;
	const char *name = object_name_of_lock(&findings->objects, wait->pid, wait->begin_ns, wait->facts.object);
	const char *kind = stuck->meaning.lock_kind;
	const struct report_frame *frames;
	size_t count = words_path_frames(findings, wait->path, &frames);
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	kind = kind && strcmp(kind, "futex") ? kind : "lock";
	if (name)
		return words_object(findings, name);
	if (frame && frame->function)
		return arena_printf(findings->arena, "a %s in %s", kind, words_name(findings, frame->function));
	return arena_printf(findings->arena, "the %s at 0x%llx", kind, (unsigned long long)wait->facts.object);
}

static const char *title_of(struct findings *findings, const struct stuck_wait *first, size_t count)
{
	const struct stuck_wait *at = first;
	const char *out = "";

	if (count == 1)
		return arena_printf(findings->arena, "deadlock: %s waits for %s, which it holds itself",
				    thread_text(findings, first), lock_text(findings, first));
	for (size_t i = 0; i < count && i < TITLE_THREADS_MAX; i++, at = at->holder)
		out = arena_printf(findings->arena, "%s%s%s waits for %s, which %s holds", out,
				   !i               ? ""
				   : i + 1 == count ? ", and "
						    : ", ",
				   thread_text(findings, at), lock_text(findings, at),
				   thread_text(findings, at->holder));
	if (count == 2)
		return arena_printf(findings->arena, "deadlock: %s", out);
	return arena_printf(findings->arena, "deadlock of %zu threads: %s%s", count, out,
			    count > TITLE_THREADS_MAX ? ", and so on" : "");
}

static void say_thread(struct findings *findings, struct report_finding *row, const struct stuck_wait *stuck)
{
	const struct wait_lasting *wait = stuck->wait;
	const char *path = words_path(findings, wait->path);

	draft_say(findings, row, "%s waits for %s, which %s holds, %s%s%s%s", thread_text(findings, stuck),
		  lock_text(findings, stuck), thread_text(findings, stuck->holder),
		  wait->is_found ? "since before tracing began" : "for ",
		  wait->is_found ? "" : words_duration(findings, wait->end_ns - wait->begin_ns), path ? ", in " : "",
		  path ? path : "");
}

/* Those that wait for a lock of the cycle without being part of it. */
static void say_behind(struct findings *findings, struct report_finding *row, const struct stuck *stuck, uint32_t cycle)
{
	size_t count = 0;
	const char *names = "";

	for (size_t i = 0; i < stuck->count; i++) {
		const struct stuck_wait *behind = &stuck->waits[i];

		if (behind->leads_to != cycle || behind->cycle)
			continue;
		if (count++ < BEHIND_NAMED)
			names = arena_printf(findings->arena, "%s%s%s", names, *names ? ", " : "", behind->wait->name);
	}
	if (count)
		draft_say(findings, row, "%s behind it: %s%s",
			  count == 1 ? "one more thread waits"
				     : arena_printf(findings->arena, "%zu more threads wait", count),
			  names, count > BEHIND_NAMED ? " and so on" : "");
}

static uint32_t wait_rank_of(struct findings *findings, const struct stuck_wait *stuck)
{
	const struct wait_lasting *wait = stuck->wait;
	const char *name = object_name_of_lock(&findings->objects, wait->pid, wait->begin_ns, wait->facts.object);
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->wait_count; i++)
		if (report->waits[i].cause == CAUSE_LOCK &&
		    (!name || (report->waits[i].object && !strcmp(report->waits[i].object, name))))
			return i + 1;
	return 0;
}

static void add_cycle(struct findings *findings, struct draft *draft, uint32_t cycle)
{
	const struct stuck *stuck = findings->stuck;
	const struct stuck_wait *first = find_last(stuck, cycle)->holder, *at = first;
	size_t count = count_cycle(first);
	struct report_finding *row;
	double lost_ns = 0;

	for (size_t i = 0; i < stuck->count; i++)
		if (stuck->waits[i].leads_to == cycle)
			lost_ns += stuck->waits[i].wait->end_ns - stuck->waits[i].wait->begin_ns;
	row = draft_add(findings, draft, PATTERN_DEADLOCK, CAUSE_LOCK,
			draft_share(lost_ns, findings->report.balance.threads.busy_ns), "%s",
			title_of(findings, first, count));
	if (!row)
		return;
	row->wait_rank = wait_rank_of(findings, first);
	say_behind(findings, row, stuck, cycle);
	do {
		say_thread(findings, row, at);
		at = at->holder;
	} while (at != first);
}

void patterns_add_deadlocks(struct findings *findings, struct draft *draft)
{
	for (uint32_t cycle = 1; cycle <= findings->stuck->cycle_count; cycle++)
		add_cycle(findings, draft, cycle);
}
