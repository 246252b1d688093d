/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activities of programs' own events and of scripts, added up. */
#include "findings/parts/findings_internal.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity_sums.h"
#include "activity/decode/decoders.h"
#include "activity/event_filter.h"
#include "base/text.h"

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
			"%s: only the activities are of the events that these choose; all other figures are of "
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
	add_notes(findings);
}
