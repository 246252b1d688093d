/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that are dropped, or have to wait, because nobody accepts them in time. */
#include "findings/patterns/draft.h"

#include <string.h>

#include "report/report_cause.h"

enum { DROPS_MIN = 3, LOOKS_MIN = 8 };

/*
 * waiting_min: connections that wait in so many of the looks wait all the time; cause_min: a finding that costs so much of the wall time is why they
 * do. instead_min: where a thread is for so much of the wall time, it does not accept.
 */
static const double waiting_min = 0.5, cause_min = 0.2, instead_min = 0.5;

bool patterns_is_slow_to_accept(const struct report_listener *listener)
{
	return listener->looks >= LOOKS_MIN && listener->waiting_looks >= waiting_min * listener->looks;
}

static const char *who(struct findings *findings, const struct report_listener *listener)
{
	const char *name = *listener->name ? listener->name : "a process";
	const char *address = listener->address;

	return arena_printf(findings->arena, "%s (%u)%s%s", words_name(findings, name), listener->pid,
			    address ? " at " : "", address ? words_object(findings, address) : "");
}

/* "145 were dropped"; "": none was. */
static const char *drops_words(struct findings *findings, const struct report_listener *listener)
{
	return listener->drops ? arena_printf(findings->arena, ", and %s dropped",
					      words_counted(findings, listener->drops, "attempt"))
			       : "";
}

static void say_looks(struct findings *findings, struct report_finding *row, const struct report_listener *listener)
{
	if (!listener->waiting_looks) {
		draft_say(findings, row, "at none of %s connections waited: they come in bursts; %llu can wait",
			  words_counted(findings, listener->looks, "look"), (unsigned long long)listener->capacity);
		return;
	}
	draft_say(findings, row, "at %llu of %s connections waited, %.1f on average and %llu at most; %llu can wait",
		  (unsigned long long)listener->waiting_looks, words_counted(findings, listener->looks, "look"),
		  listener->waiting, (unsigned long long)listener->waiting_max, (unsigned long long)listener->capacity);
}

/* --- What is done instead ------------------------------------------------------------------------------ */

static bool is_for(const struct report_wait *wait, const struct report_listener *listener)
{
	return wait->object && listener->address && !strcmp(wait->object, listener->address);
}

static bool has_waiter(const struct report_wait *wait, uint32_t number)
{
	for (uint64_t i = 0; i < wait->threads; i++)
		if (wait->waiters[i] == number)
			return true;
	return false;
}

/* The thread that was seen to wait for connections there, or the only one of the process; 0: neither is known. */
static uint32_t who_accepts(const struct report *report, const struct report_listener *listener)
{
	uint32_t only = 0;
	size_t count = 0;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (thread->host_pid != listener->pid || !thread->number)
			continue;
		only = thread->number;
		count += thread->thread_count;
		for (size_t k = 0; k < report->wait_count; k++)
			if (is_for(&report->waits[k], listener) && has_waiter(&report->waits[k], thread->number))
				return thread->number;
	}
	return count == 1 ? only : 0;
}

/* Where it waits most of the time, and not for connections; NULL: nowhere. */
static const struct report_wait *wait_instead(const struct report *report, const struct report_listener *listener)
{
	uint32_t number = who_accepts(report, listener);
	const struct report_wait *longest = NULL;
	double longest_ns = 0;

	for (size_t i = 0; number && i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		double mean_ns = draft_share(wait->wait_ns, wait->threads);

		if (mean_ns <= longest_ns || is_for(wait, listener) || !has_waiter(wait, number))
			continue;
		longest = wait;
		longest_ns = mean_ns;
	}
	return longest_ns >= instead_min * report->target.wall_ns ? longest : NULL;
}

/* "sleep in check_for_guests (a.c:7)" */
static const char *instead_words(struct findings *findings, const struct report_wait *wait)
{
	const char *place = words_place(findings, wait->frames, wait->frame_count);
	char cause[REPORT_CAUSE_BYTES];

	return arena_printf(findings->arena, "%s%s%s", report_cause_text(cause, wait->cause, wait->syscall),
			    place ? " in " : "", place ? place : "");
}

/* --- Findings ------------------------------------------------------------------------------------------ */

/* The largest finding, which is why they wait; NULL: none is large. */
static struct report_finding *cause_of(const struct findings *findings, struct draft *draft)
{
	double busy_ns = findings->report.balance.threads.busy_ns;
	struct report_finding *largest = NULL;

	for (size_t i = 0; i < draft->count; i++)
		if (draft->rows[i].pattern != PATTERN_ACCEPT_QUEUE &&
		    draft->rows[i].share * busy_ns >= cause_min * findings->report.target.wall_ns &&
		    (!largest || draft->rows[i].share > largest->share))
			largest = &draft->rows[i];
	return largest;
}

/* Connections wait all the time: who accepts them is late. */
static void add_slow(struct findings *findings, struct draft *draft, const struct report_listener *listener)
{
	struct report_finding *cause = cause_of(findings, draft), *row;
	const char *name = who(findings, listener), *drops = drops_words(findings, listener);
	const struct report_wait *instead;

	if (cause) {
		draft_say(findings, cause, "meanwhile %.1f connections on average wait for %s to accept them%s",
			  listener->waiting, name, drops);
		return;
	}
	row = draft_add(findings, draft, PATTERN_ACCEPT_QUEUE, CAUSE_SOCKET,
			draft_share(listener->waiting_looks, listener->looks),
			"connections wait for %s to accept them: %.1f on average%s", name, listener->waiting, drops);
	if (!row)
		return;
	row->object = listener->address;
	row->listener = listener;
	instead = wait_instead(&findings->report, listener);
	if (instead) {
		row->wait_rank = (uint32_t)(instead - findings->report.waits) + 1;
		draft_say(findings, row, "meanwhile who accepts them waits: %s", instead_words(findings, instead));
	}
	say_looks(findings, row, listener);
}

/*
 * The kernel counts what it drops for other reasons, too: a packet of a connection that is gone. Between two looks a long queue is
 * not filled and emptied again without more than it holds being dropped, or one being met in it.
 */
static bool was_full(const struct report_listener *listener)
{
	return listener->waiting_max || listener->drops >= listener->capacity;
}

/* They come faster than they are accepted, now and then. */
static void add_bursts(struct findings *findings, struct draft *draft, const struct report_listener *listener)
{
	double share = draft_share(listener->dropping_ns, findings->report.target.wall_ns);
	struct report_finding *row;

	if (listener->drops < DROPS_MIN || share < finding_share_min || !was_full(listener))
		return;
	row = draft_add(findings, draft, PATTERN_ACCEPT_QUEUE, CAUSE_SOCKET, share < 1 ? share : 1,
			"connections to %s were dropped %llu times: its accept queue holds %llu",
			who(findings, listener), (unsigned long long)listener->drops,
			(unsigned long long)listener->capacity);
	if (!row)
		return;
	row->object = listener->address;
	row->listener = listener;
	draft_say(findings, row, "who is dropped tries again, mostly after a second: a wait that no thread of %s sees",
		  *listener->name ? listener->name : "it");
	say_looks(findings, row, listener);
}

void patterns_add_listeners(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->listener_count; i++) {
		if (patterns_is_slow_to_accept(&report->listeners[i]))
			add_slow(findings, draft, &report->listeners[i]);
		else
			add_bursts(findings, draft, &report->listeners[i]);
	}
}
