/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_code.h"

#include <string.h>

#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "findings/patterns/draft.h"
#include "findings/verdict/verdict_cpu.h"
#include "stacks/fold.h"

/*
 * So much of the wall time one thread alone has to be active to run all the time; then the first path is the verdict from
 * first_min on. full_min: where threads are active for so much of the CPUs on average, little is lost while few are.
 */
static const double serial_min = 0.8, first_min = 0.05, full_min = 0.75;

static bool is_same_function(const struct report_frame *a, const struct report_frame *b)
{
	return a->function && b->function && !strcmp(a->function, b->function);
}

/*
 * Whether threads wait without work below that function: then it is their loop, and says nothing of what they do
 * when they have work.
 */
static bool is_loop(const struct report *report, const struct report_frame *frame)
{
	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];

		if (2 * wait->idle_ns <= wait->wait_ns)
			continue;
		for (size_t k = 0; k < wait->frame_count; k++)
			if (is_same_function(&wait->frames[k], frame))
				return true;
	}
	return false;
}

/* Whether most samples of the path are in that function itself. */
static bool runs_itself(const struct report_path *path, const struct report_frame *frame)
{
	return path->function_count && path->functions[0].name && frame->function &&
	       !strcmp(path->functions[0].name, frame->function);
}

static bool has_evidence(const struct report_path *path)
{
	return (path->samples ? path->samples : path->slices) >= CODE_EVIDENCE_MIN;
}

/* Whether it is code that one can say something of, and more than its error. */
static bool is_known(struct findings *findings, const struct report_path *path)
{
	const struct report_frame *frame =
		path->frame_count ? fold_find_headline(findings->input.fold, path->frames, path->frame_count) : NULL;

	return frame && (frame->function || frame->module) && path->cmetric_ns > 2 * path->error_ns &&
	       has_evidence(path) && (runs_itself(path, frame) || !is_loop(&findings->report, frame));
}

/* Whether one thread at a time computes, all the time. */
static bool is_serial(const struct report *report)
{
	uint64_t alone_ns = 0;

	for (size_t i = 0; i < report->level_count; i++)
		if (report->parallelism[i].active == 1)
			alone_ns = report->parallelism[i].ns;
	return !verdict_is_saturated(report) && alone_ns >= serial_min * report->target.wall_ns;
}

static bool is_nearly_full(const struct report *report)
{
	return report->target.cpu_count && report->totals.parallelism >= full_min * report->target.cpu_count;
}

/* Where others have its CPUs, how much of the time in which it could run it had one; else 1. */
static double share_with_cpu(const struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;

	return patterns_lose_cpus(findings) ? (double)threads->running_ns / (threads->running_ns + threads->cpu_wait_ns)
					    : 1;
}

struct verdict_code verdict_main_code(struct findings *findings)
{
	const struct report *report = &findings->report;
	const struct report_path *path = report->path_count && is_known(findings, report->paths) ? report->paths : NULL;
	const struct report_trunk *trunk = report->trunk;
	bool is_full = is_nearly_full(report) && !patterns_lose_cpus(findings);
	double had = share_with_cpu(findings);

	if (is_full && !report->code.is_critical) /* no time is lost where only some run */
		return (struct verdict_code){ 0 };
	if (path && path->wall_share >= had * (is_full ? verdict_trunk_min : verdict_code_min))
		return (struct verdict_code){ path->frames, path->frame_count, path->wall_share, path };
	if (trunk && trunk->frame_count && !is_full && trunk->wall_share >= had * verdict_trunk_min &&
	    report->totals.samples >= CODE_EVIDENCE_MIN && !is_loop(report, trunk->frames))
		return (struct verdict_code){ trunk->frames, trunk->frame_count, trunk->wall_share, NULL };
	if (path && path->wall_share >= first_min && is_serial(report))
		return (struct verdict_code){ path->frames, path->frame_count, path->wall_share, path };
	return (struct verdict_code){ 0 };
}

/* --- A finding -------------------------------------------------------------------------------------- */

static bool is_in(const struct report_frame *function, const struct report_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_function(&frames[i], function))
			return true;
	return false;
}

static bool is_about(const struct report *report, const struct report_finding *finding,
		     const struct report_frame *function)
{
	const struct report_path *path = finding->path_rank ? &report->paths[finding->path_rank - 1] : NULL;
	const struct report_root *root = finding->root;

	return (finding->code && is_in(function, finding->code->frames, finding->code->frame_count)) ||
	       (root && root->kind == ROOT_CODE && is_in(function, root->frames, root->frame_count)) ||
	       (path && is_in(function, path->frames, path->frame_count));
}

/* Whether the verdict or a finding is about that code. */
static bool is_said(const struct report *report, const struct report_frame *function)
{
	const struct report_verdict *verdict = &report->verdict;

	if (verdict->kind == VERDICT_CODE && is_in(function, verdict->cause_path, verdict->cause_frame_count))
		return true;
	for (size_t i = 0; i < report->finding_count; i++)
		if (is_about(report, &report->findings[i], function))
			return true;
	return false;
}

/* Where it stands among them, by its share; it is not before the first one, which the verdict is about. */
static size_t place_of(const struct report *report, double share)
{
	size_t i = 1;

	while (i < report->finding_count && report->findings[i].share >= share)
		i++;
	return i;
}

void verdict_add_code(struct findings *findings, const struct verdict_code *code)
{
	struct report *report = &findings->report;
	const struct report_frame *function = fold_find_headline(findings->input.fold, code->frames, code->frame_count);
	const char *place = verdict_place_clause(findings, code->frames, code->frame_count);
	struct report_finding *rows;
	const char *samples = words_samples(findings, code->path), **evidence;
	size_t at = place_of(report, code->wall_share);

	if (!function || is_said(report, function))
		return;
	rows = arena_alloc(findings->arena, (report->finding_count + 1) * sizeof(*rows));
	memcpy(rows, report->findings, at * sizeof(*rows));
	memcpy(rows + at + 1, report->findings + at, (report->finding_count - at) * sizeof(*rows));
	evidence = arena_alloc(findings->arena, sizeof(*evidence));
	*evidence = samples;
	rows[at] = (struct report_finding){
		.title = arena_printf(findings->arena, "%s runs while few others do, for %.0f %% of the wall time",
				      place ? place : "code without a name", 100 * code->wall_share),
		.pattern = PATTERN_CRITICAL_CODE,
		.cause = CAUSE_ON_CPU,
		.share = code->wall_share,
		.evidence = evidence,
		.evidence_count = samples != NULL,
		.path_rank = code->path ? code->path->rank : 0,
	};
	findings->report.findings = findings->stand_out = rows;
	report->finding_count++;
}
