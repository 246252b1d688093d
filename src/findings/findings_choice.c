/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/findings_choice.h"

#include <string.h>

#include "base/table.h"
#include "findings/blame/blame.h"
#include "findings/parts/findings_waits.h"
#include "report/wait_choice.h"

enum { WAITERS_MAX = 8 };

static const char *const *names_of_causes(struct findings *findings, size_t *count)
{
	const char **names = arena_alloc(findings->arena, SLICE_CAUSES * sizeof(*names));

	*count = 0;
	for (enum wait_cause cause = 0; cause < SLICE_CAUSES; cause++)
		if (findings->choice->causes >> cause & 1)
			names[(*count)++] = wait_cause_name(cause);
	return names;
}

/* --- Sums ----------------------------------------------------------------------------------------- */

static void add_causes(const struct findings *findings, struct report_choice *out)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	bool is_by_cause = !findings->choice->object_count;

	for (size_t i = 0; i < threads->cause_count; i++) {
		const struct report_cause *row = &threads->causes[i];

		out->all_wait_ns += row->wait_ns;
		if (!is_by_cause || !wait_choice_has_cause(findings->choice, row->cause))
			continue;
		out->wait_ns += row->wait_ns;
		out->idle_ns += row->idle_ns;
		out->waits += row->waits;
	}
}

/* Of the rows of all waits: no balance has objects. */
static void add_objects(const struct findings *findings, const struct report_wait *waits, size_t count,
			struct report_choice *out)
{
	for (size_t i = 0; findings->choice->object_count && i < count; i++) {
		if (!wait_choice_has_cause(findings->choice, waits[i].cause))
			continue;
		if (!waits[i].object)
			out->unnamed_ns += waits[i].wait_ns;
	}
	for (size_t i = 0; findings->choice->object_count && i < findings->report.wait_count; i++) {
		out->wait_ns += findings->report.waits[i].wait_ns;
		out->idle_ns += findings->report.waits[i].idle_ns;
		out->waits += findings->report.waits[i].waits;
	}
}

/* --- Who waited ----------------------------------------------------------------------------------- */

static bool is_among(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void add_waiters(struct findings *findings, struct report_choice *out)
{
	const struct report *report = &findings->report;
	const char **names = arena_alloc(findings->arena, WAITERS_MAX * sizeof(*names));
	struct table *threads = table_new();

	for (size_t i = 0; i < report->thread_count; i++)
		if (report->threads[i].number)
			table_put(threads, report->threads[i].number, (void *)&report->threads[i]);
	for (size_t i = 0; i < report->wait_count; i++)
		for (uint64_t k = 0; k < report->waits[i].threads && out->waiter_count < WAITERS_MAX; k++) {
			const struct report_thread *thread = table_find(threads, report->waits[i].waiters[k]);
			const char *name = thread ? findings_group_name(findings, thread->name) : NULL;

			if (name && !is_among(names, out->waiter_count, name))
				names[out->waiter_count++] = name;
		}
	out->waiters = names;
	table_free(threads);
}

/* --- Findings ------------------------------------------------------------------------------------- */

/* By what it is about, by the wait that shows it, or by what threads were seen to wait for because of it. */
static bool is_chosen(const struct findings *findings, const struct report_wait *waits,
		      const struct report_finding *finding)
{
	const struct report_wait *wait = finding->wait_rank ? &waits[finding->wait_rank - 1] : NULL;
	const struct wait_choice *choice = findings->choice;
	bool is_of_wait = finding->cause < CAUSES || finding->cause == CAUSE_PREEMPTED;

	if (is_of_wait && wait_choice_has(choice, finding->cause, finding->object))
		return true;
	if (wait && wait_choice_has(choice, wait->cause, wait->object))
		return true;
	for (size_t i = 0; choice->object_count && i < finding->symptom_count; i++)
		if (wait_choice_has_object(choice, finding->symptoms[i]))
			return true;
	return false;
}

/* The place of the same row among the chosen ones; 0: it is not there. */
static uint32_t rank_of(const struct report *report, uint64_t key)
{
	for (size_t i = 0; i < report->wait_count; i++)
		if (report->waits[i].key == key)
			return i + 1;
	return 0;
}

static void choose_findings(struct findings *findings, const struct report_wait *waits, struct report_choice *out)
{
	struct report *report = &findings->report;
	struct report_finding *rows = arena_alloc(findings->arena, (report->finding_count + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		struct report_finding *row = &rows[count];

		if (!is_chosen(findings, waits, &report->findings[i]))
			continue;
		*row = report->findings[i];
		if (row->wait_rank)
			row->wait_rank = rank_of(report, waits[row->wait_rank - 1].key);
		count++;
	}
	out->findings_left_out = report->finding_count - count;
	report->findings = findings->stand_out = rows;
	report->finding_count = count;
}

void findings_choose(struct findings *findings)
{
	struct report *report = &findings->report;
	struct report_choice *out = arena_alloc(findings->arena, sizeof(*out));
	const struct report_wait *waits = report->waits;
	size_t count = report->wait_count;

	findings->choice = findings->input.choice;
	out->causes = names_of_causes(findings, &out->cause_count);
	out->objects = findings->choice->objects;
	out->object_count = findings->choice->object_count;
	findings_put_waits(findings);
	findings_add_locks(findings);
	findings_add_files(findings);
	findings_choose_blame(findings);
	findings_add_unlocks(findings);
	choose_findings(findings, waits, out);
	add_causes(findings, out);
	add_objects(findings, waits, count, out);
	add_waiters(findings, out);
	report->choice = out;
}
