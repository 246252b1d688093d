/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activities of programs' own events and of scripts, added up. */
#include "findings/parts/findings_internal.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity_sums.h"
#include "activity/decode/decoders.h"
#include "activity/decode/hints.h"
#include "activity/event_filter.h"
#include "base/text.h"

enum { LENGTHS_MIN = 200, LENGTH_TIMES = 10, LENGTH_HINTS_MAX = HINTS_OF_KIND_MAX };

static const uint64_t length_ns_min = 1000000;

static struct report_activity row_of(struct findings *findings, const struct activity_sum *sum, uint64_t begin_ns)
{
	const char *name = sum->max_thread_name;

	return (struct report_activity){
		.script = sum->source ? arena_strdup(findings->arena, sum->source) : NULL,
		.name = arena_strdup(findings->arena, sum->name),
		.count = sum->count,
		.total_ns = sum->total_ns,
		.p50_ns = lengths_quantile_ns(sum->lengths, sum->count, sum->max_ns, 0.5),
		.p99_ns = lengths_quantile_ns(sum->lengths, sum->count, sum->max_ns, 0.99),
		.max_ns = sum->max_ns,
		.max_at_ns = (int64_t)(sum->max_begin_ns - begin_ns),
		.max_tid = sum->max_tid,
		.max_thread = *name ? arena_strdup(findings->arena, name) : NULL,
	};
}

static int by_total(const void *a, const void *b)
{
	const struct report_activity *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_notes(struct findings *findings)
{
	const struct decoders *decoders = findings->input.decoders;
	const struct event_filter *filter = decoders_filter(decoders);
	struct text note = { 0 };

	if (filter && event_filter_is_set(filter)) {
		event_filter_put(filter, &note);
		findings_add_note(
			findings,
			"%s: only the activities are of the events that these choose; all other figures but the chosen parts are of "
			"all events, for they have no meaning for a part of them",
			note.bytes);
	}
	if (decoders_has_script_filters(decoders))
		findings_add_note(findings, "the filters of scripts choose events for activities only; all other "
					    "figures are of all events");
	note.length = 0;
	for (size_t i = 0; decoders_put_note(decoders, i, &note); i++) {
		findings_add_note(findings, "%s", note.bytes);
		note.length = 0;
	}
	text_fini(&note);
}

/* Of a name with many activities, one that is far longer than the others. */
static bool is_far_longer(const struct report_activity *row)
{
	return row->count >= LENGTHS_MIN && row->max_ns >= length_ns_min && row->max_ns / LENGTH_TIMES >= row->p99_ns;
}

/* One that lies in a longer one of the same thread says more of the same. */
static bool is_within(const struct report_activity *inner, const struct report_activity *outer)
{
	return inner->max_tid == outer->max_tid && inner->max_ns < outer->max_ns &&
	       inner->max_at_ns >= outer->max_at_ns &&
	       inner->max_at_ns + (int64_t)inner->max_ns <= outer->max_at_ns + (int64_t)outer->max_ns;
}

static bool is_longest_of_its_own(const struct report *report, const struct report_activity *row)
{
	if (!is_far_longer(row))
		return false;
	for (size_t i = 0; i < report->activity_count; i++)
		if (is_far_longer(&report->activities[i]) && is_within(&report->activities[i], row))
			return false;
	return true;
}

static struct report_hint hint_of_length(const struct report_activity *row)
{
	return (struct report_hint){
		.kind = HINT_LENGTH,
		.name = row->name,
		.count = 1,
		.others = row->count - 1,
		.ns = row->max_ns,
		.usual_ns = row->p99_ns,
		.at_ns = row->max_at_ns,
		.tid = row->max_tid,
		.thread = row->max_thread,
	};
}

static struct report_hint hint_of_event(struct findings *findings, const struct hint *hint, uint64_t begin_ns)
{
	return (struct report_hint){
		.kind = hint->kind,
		.name = arena_strdup(findings->arena, hint->name),
		.count = hint->count,
		.others = hint->others,
		.ns = hint->ns,
		.usual_ns = hint->usual_ns,
		.at_ns = (int64_t)(hint->at_ns - begin_ns),
		.tid = hint->tid,
		.thread = *hint->thread_name ? arena_strdup(findings->arena, hint->thread_name) : NULL,
	};
}

static int by_kind(const void *a, const void *b)
{
	const struct report_hint *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->others != y->others)
		return x->others > y->others ? -1 : 1;
	return order ? order : (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void add_hints(struct findings *findings, uint64_t begin_ns)
{
	const struct report *report = &findings->report;
	struct hint hints[HINTS_MAX];
	size_t of_events = decoders_hints(findings->input.decoders, hints), count = 0;
	struct report_hint *list = arena_alloc(findings->arena, (HINTS_MAX + LENGTH_HINTS_MAX) * sizeof(*list));
	size_t lengths = 0;

	for (size_t i = 0; i < of_events; i++)
		list[count++] = hint_of_event(findings, &hints[i], begin_ns);
	for (size_t i = 0; i < report->activity_count && lengths < LENGTH_HINTS_MAX; i++)
		if (is_longest_of_its_own(report, &report->activities[i])) {
			list[count++] = hint_of_length(&report->activities[i]);
			lengths++;
		}
	qsort(list, count, sizeof(*list), by_kind);
	findings->report.hints = list;
	findings->report.hint_count = count;
}

void findings_add_activities(struct findings *findings)
{
	uint64_t begin_ns = criticality_totals(findings->input.criticality).begin_ns;
	const struct activity_sums *sums = decoders_sums(findings->input.decoders);
	struct report_activity *rows;
	size_t count = 0;

	while (activity_sums_get(sums, count))
		count++;
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = row_of(findings, activity_sums_get(sums, i), begin_ns);
	qsort(rows, count, sizeof(*rows), by_total);
	findings->report.activities = rows;
	findings->report.activity_count = count;
	add_hints(findings, begin_ns);
	add_notes(findings);
}
