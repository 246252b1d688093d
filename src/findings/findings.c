/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/text.h"
#include "findings/blame/blame.h"
#include "findings/names/klock_words.h"
#include "findings/code/findings_code.h"
#include "findings/findings_choice.h"
#include "findings/parts/findings_waits.h"
#include "findings/patterns/draft.h"
#include "findings/verdict/verdict.h"
#include "report/wait_choice.h"

enum { TIMELINE_PARTS = 120, NOTE_BYTES_MAX = 512 };

static void add_totals(struct findings *findings)
{
	struct criticality_totals totals = criticality_totals(findings->input.criticality);
	struct stacks_counts stacks = stacks_counts(findings->input.stacks);
	struct report *report = &findings->report;

	report->target.wall_ns = report->balance.wall.wall_ns = totals.wall_ns;
	report->target.is_running = totals.alive_count > 0;
	report->target.cpu_count = findings->input.cpu_count;
	report->totals.active_ns = totals.active_ns;
	report->totals.stalled_ns = totals.stalled_ns;
	report->totals.cmetric_ns = totals.cmetric_ns;
	report->totals.critical_ns = totals.critical_ns;
	report->totals.accounting_error_ns = totals.closure_error_ns;
	report->totals.threads = totals.thread_count;
	report->totals.alive_max = totals.alive_count_max;
	report->totals.switches = totals.switches;
	report->totals.slices = totals.slices;
	report->totals.critical_slices = totals.critical_slices;
	report->totals.samples = totals.samples;
	report->totals.stack_tops = totals.stack_tops;
	report->totals.stalls = totals.stalls;
	report->totals.nmin = findings->input.nmin;
	if (!findings->input.nmin) /* it moved with the threads: where it stood highest */
		report->totals.nmin = totals.alive_count_max < 2 ? 1 : totals.alive_count_max / 2;
	report->totals.is_nmin_default = !findings->input.nmin;
	report->totals.is_spin_inactive = findings->input.is_spin_inactive;
	report->totals.critical_cmetric_ns = totals.oncpu_cmetric_critical_ns;
	report->losses.gaps = totals.gaps;
	report->losses.gap_ns = totals.gap_ns;
	report->losses.records = totals.lost_records;
	report->losses.unexplained_transitions = totals.unordered;
	report->losses.stacks_not_kept = totals.stacks_skipped;
	report->losses.keep_min = totals.keep_min;
	report->losses.stacks_resent = stacks.resent;
}

static void add_parallelism(struct findings *findings)
{
	const struct criticality *criticality = findings->input.criticality;
	struct criticality_totals totals = criticality_totals(criticality);
	struct report_level *levels = arena_alloc(findings->arena, (totals.active_count_max + 1) * sizeof(*levels));
	double *timeline = arena_alloc(findings->arena, TIMELINE_PARTS * sizeof(*timeline));
	double thread_ns = 0;

	for (size_t n = 0; n <= totals.active_count_max; n++) {
		uint64_t time_ns = criticality_time_at(criticality, n);

		if (time_ns)
			levels[findings->report.level_count++] = (struct report_level){ .active = n, .ns = time_ns };
		thread_ns += (double)time_ns * n;
	}
	findings->report.parallelism = levels;
	if (totals.wall_ns)
		findings->report.totals.parallelism = thread_ns / totals.wall_ns;
	findings->report.timeline = timeline;
	findings->report.timeline_count = criticality_timeline(criticality, timeline, TIMELINE_PARTS);
}

static void add_odd_note(struct findings *findings)
{
	struct criticality_totals totals = criticality_totals(findings->input.criticality);
	struct text name = { 0 }, time = { 0 };

	if (!totals.unordered || !totals.odd.what)
		return;
	text_put_escaped(&name, totals.odd.name);
	text_put_duration(&time, totals.odd.time_ns > totals.begin_ns ? totals.odd.time_ns - totals.begin_ns : 0);
	findings_add_note(findings, "inconsistent event, corrected: %s (tid %u) %s, %s after the start",
			  name.bytes ? name.bytes : "", totals.odd.tid, totals.odd.what, time.bytes);
	text_fini(&name);
	text_fini(&time);
}

/* Each reads what those before it have found. */
static void add_all_of_waits(struct findings *findings)
{
	findings_add_waits(findings);
	findings_add_locks(findings);
	findings_add_files(findings);
	findings_add_balance(findings);
	findings_add_spinning(findings);
	findings_add_blame(findings);
	findings_add_loops(findings);
	findings_add_resources(findings);
	findings_add_patterns(findings);
}

struct findings *findings_new(const struct findings_input *input)
{
	struct findings *findings = xcalloc(1, sizeof(*findings));
	const char *const *notes;
	size_t count;

	findings->input = *input;
	findings->arena = arena_new();
	findings->objects = (struct object_names){ input->symbols, input->files, input->klocks, findings->arena };
	findings->names = path_names_new(input->symbols, input->stacks, input->pause);
	findings->klock_words = klock_words_new();
	add_totals(findings);
	add_parallelism(findings);
	findings_prepare_spinning(findings);
	findings_add_paths(findings);
	findings_add_code(findings);
	findings_add_groups(findings);
	if (input->accept_queues)
		findings_add_listeners(findings);
	if (input->waits)
		add_all_of_waits(findings);
	if (input->klocks)
		findings_add_klocks(findings);
	if (input->go_waits)
		findings_add_goroutines(findings);
	if (input->decoders)
		findings_add_activities(findings);
	findings_add_summary(findings);
	findings_add_verdict(findings);
	if (input->waits && wait_choice_is_set(input->choice))
		findings_choose(findings);
	findings_end_paths(findings);
	add_odd_note(findings);
	count = symbols_notes(input->symbols, &notes);
	for (size_t i = 0; i < count; i++)
		findings_add_note(findings, "%s", notes[i]);
	return findings;
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	arena_free(findings->arena);
	blame_free(findings->blame);
	path_names_free(findings->names);
	klock_words_free(findings->klock_words);
	table_free(findings->children);
	table_free(findings->repeats);
	free(findings->requests);
	free(findings->notes);
	free(findings);
}

struct report *findings_report(struct findings *findings)
{
	return &findings->report;
}

void findings_add_note(struct findings *findings, const char *format, ...)
{
	struct report *report = &findings->report;
	char note[NOTE_BYTES_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	ARRAY_GROW(findings->notes, report->note_count, findings->note_capacity, 8);
	findings->notes[report->note_count++] = arena_strdup(findings->arena, note);
	report->notes = findings->notes;
}
