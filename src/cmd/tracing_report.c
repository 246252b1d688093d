/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run of tracing has found: the findings, with what it cost and what was lost, and their views.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/tracing_state.h"
#include "collect/collector.h"
#include "collect/resolver.h"
#include "collect/unwinder.h"
#include "findings/findings.h"
#include "view/output.h"
#include "view/view.h"

uint64_t tracing_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

/* Not getrusage()'s: that one includes what this process was before its exec. */
static uint64_t peak_rss_bytes(void)
{
	unsigned long long kilobytes = 0;
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

static void add_kernel_counts(struct tracing *tracing, struct report *report)
{
	struct kernel_counts counts = kernel_counts(tracing->kernel);
	struct session_counts session = session_counts(tracing->engine.session);

	report->losses.samples = counts.samples_lost;
	report->losses.hidden = counts.hidden;
	report->losses.malformed = session.malformed;
	report->losses.late = session.late;
	report->losses.mappings = sideband_lost(tracing->sideband);
	report->losses.threads_untracked = counts.threads_untracked;
	report->cost.events = session.delivered;
	report->cost.event_bytes = session.pushed_bytes;
	report->cost.bpf_ns = counts.run_ns;
	report->cost.bpf_runs = counts.runs;
}

static void add_stack_counts(struct tracing *tracing, struct report *report)
{
	struct kernel_counts kernel = kernel_counts(tracing->kernel);
	struct unwinder_counts engine = unwinder_counts(tracing->unwinder);

	for (size_t end = 0; end < STACK_ENDS; end++) {
		report->stacks.ends[end] = kernel.stack_ends[end] + engine.stack_ends[end];
		report->stacks.taken += report->stacks.ends[end];
		report->stacks.unwound_late += engine.stack_ends[end];
	}
	report->stacks.frames = kernel.stack_frames + engine.stack_frames;
	report->stacks.ns = kernel.stack_ns;
	report->stacks.median_ns = kernel.stack_median_ns;
	report->stacks.tables = engine.tables;
	report->stacks.table_bytes = engine.table_bytes;
}

static int show(struct tracing *tracing, const struct report *report)
{
	const struct settings *settings = tracing->settings;
	struct view_style style;
	struct text text = { 0 };
	int err = 0, json_err = 0;

	if (settings->json_path) {
		json_view.show(report, &(struct view_style){ 0 }, &text);
		json_err = output_write(settings->json_path, &text);
		text_fini(&text);
	}
	if ((!settings->is_quiet && !settings->has_tui) || settings->text_path) {
		style = settings->text_path ? (struct view_style){ .has_unicode = true,
							.full_paths = VIEW_FULL_PATHS_DEFAULT }
					    : view_style_for(STDERR_FILENO);
		style.fold = tracing->engine.fold;
		style.is_verbose = settings->is_verbose;
		style.pages = settings->pages;
		text_view.show(report, &style, &text);
		err = output_write(settings->text_path, &text);
		text_fini(&text);
	}
	return err ? err : json_err;
}

static struct findings_input findings_input(struct tracing *tracing, size_t path_count_max,
					    struct pause *pause)
{
	struct findings_input input = engine_findings_input(&tracing->engine);

	input.sample_period_ns = tracing->settings->kernel.sample_period_ns;
	input.path_count_max = path_count_max;
	input.tells_kernel_apart = tracing->settings->kernel.kernel_stacks;
	input.pause = pause;
	return input;
}

/* What goes on is counted up to where all events are known. */
static struct findings *find(struct tracing *tracing, const struct findings_input *input)
{
	struct findings *findings;

	if (tracing->ended_ns)
		return findings_new(input);
	criticality_advance(tracing->engine.criticality, collector_delivered_ns(tracing->collector));
	criticality_count_open_waits(tracing->engine.criticality);
	findings = findings_new(input);
	criticality_uncount_open_waits(tracing->engine.criticality);
	return findings;
}

struct findings *tracing_findings(struct tracing *tracing, const struct outcome *outcome,
				  size_t path_count_max, struct pause *pause)
{
	struct findings_input input = findings_input(tracing, path_count_max, pause);
	uint64_t begin_ns = now_ns();
	struct findings *findings = find(tracing, &input);
	struct report *report = findings_report(findings);
	bool is_over = tracing->ended_ns;
	const char *note;

	report->target.command = outcome->command;
	report->target.pids = outcome->pids;
	report->target.pid_count = outcome->pid_count;
	report->target.exit_status = outcome->exit_status;
	add_kernel_counts(tracing, report);
	add_stack_counts(tracing, report);
	note = kernel_sampling_note(tracing->kernel);
	if (note)
		findings_add_note(findings, "%s", note);
	note = tracing->resolver ? resolver_note(tracing->resolver) : NULL;
	if (note)
		findings_add_note(findings, "%s", note);
	if (tracing->untraced_children)
		findings_add_note(findings, "%zu child process%s of the target ran already and %s not "
				  "traced: give %s numbers to -p, too, or use -n NAME",
				  tracing->untraced_children,
				  tracing->untraced_children == 1 ? "" : "es",
				  tracing->untraced_children == 1 ? "is" : "are",
				  tracing->untraced_children == 1 ? "its" : "their");
	report->cost.startup_ns = tracing->started_ns - tracing->opened_ns;
	report->cost.collector_cpu_ns = is_over ? tracing->collector_cpu_ns : tracing_cpu_ns();
	report->cost.peak_rss_bytes = peak_rss_bytes() + symbols_memory_bytes(tracing->engine.symbols);
	report->cost.post_processing_ns = now_ns() - (is_over ? tracing->ended_ns : begin_ns);
	return findings;
}

int tracing_report(struct tracing *tracing, const struct outcome *outcome)
{
	const struct settings *settings = tracing->settings;
	struct findings *findings;
	int err = 0;

	tracing_finish(tracing);
	if (settings->has_tui && !settings->text_path && !settings->json_path)
		goto out_save;		/* the terminal has shown it */
	findings = tracing_findings(tracing, outcome, tracing->settings->path_count_max, NULL);
	err = show(tracing, findings_report(findings));
	findings_free(findings);

out_save:
	symbols_save_cache(tracing->engine.symbols);
	return err;
}
