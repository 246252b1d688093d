/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did over time, in the same parts of the time traced for all of them. */
#include "account/measures/thread_strip.h"
#include "findings/parts/findings_internal.h"

void findings_begin_strips(struct findings *findings)
{
	struct criticality_totals totals = criticality_totals(findings->input.criticality);
	struct report *report = &findings->report;

	findings->span_ns = totals.end_ns - totals.begin_ns;
	report->strip_part_ns = 1ull << thread_strip_shift_for(findings->span_ns);
	report->strip_whole_ns = findings->span_ns;
	report->strip_count = (findings->span_ns + report->strip_part_ns - 1) / report->strip_part_ns;
}

const struct report_strip_part *findings_strip(struct findings *findings, const struct thread_strip *strip)
{
	uint64_t width_ns = findings->report.strip_part_ns, left_ns = findings->span_ns;
	size_t count = findings->report.strip_count;
	struct report_strip_part *parts;
	struct thread_strip wide;

	if (!strip || !count)
		return NULL;
	wide = *strip;
	thread_strip_widen(&wide, thread_strip_shift_for(left_ns));
	parts = arena_alloc(findings->arena, count * sizeof(*parts));
	for (size_t i = 0; i < count; i++) {
		double part_ns = left_ns < width_ns ? left_ns : width_ns; /* the last one */

		parts[i].running = wide.parts[i].running_ns / part_ns;
		parts[i].runnable = wide.parts[i].runnable_ns / part_ns;
		parts[i].blocked = wide.parts[i].blocked_ns / part_ns;
		left_ns -= left_ns < width_ns ? left_ns : width_ns;
	}
	return parts;
}
