/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Garbage collection that others wait for, or that takes their place. */
#include "findings/patterns/draft.h"

enum { SAMPLES_MIN = 20 };

/* Below that share of the wall time it is what a collector costs; it must be so many of its errors. */
static const double share_min = 0.1, errors_min = 3;

static const char *threads_words(struct findings *findings, const struct report_collection *row)
{
	const char *words = row->thread_names[0];

	for (size_t i = 1; i < row->thread_name_count; i++)
		words = arena_printf(findings->arena, "%s, %s", words, row->thread_names[i]);
	return words;
}

static void add_collection(struct findings *findings, struct draft *draft, const struct report_collection *row)
{
	const struct report_code_time *time = &row->time;
	double share = draft_share(time->cmetric_ns, findings->report.target.wall_ns);
	struct report_finding *finding;

	if (share < share_min || time->samples < SAMPLES_MIN || time->cmetric_ns < errors_min * time->cmetric_error_ns)
		return;
	finding = draft_add(findings, draft, PATTERN_GARBAGE_COLLECTION, CAUSE_ON_CPU, share,
			    "garbage collection of %s has %.0f %% of the wall time", row->name, 100 * share);
	draft_say(findings, finding, "%s; CPU time %s; in %s", words_counted(findings, time->samples, "sample"),
		  words_duration(findings, time->cpu_ns), threads_words(findings, row));
	if (finding)
		finding->collection = row;
}

void patterns_add_collections(struct findings *findings, struct draft *draft)
{
	const struct report_code *code = &findings->report.code;

	for (size_t i = 0; i < code->collection_count; i++)
		add_collection(findings, draft, &code->collections[i]);
}
