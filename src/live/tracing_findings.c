/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of tracing has found, so far or in all: the findings, with what it cost and what was lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/own/own_areas.h"
#include "collect/resolver.h"
#include "collect/span_functions.h"
#include "collect/unwind/unwinder.h"
#include "collect/usdt_probes.h"
#include "engine/run_events.h"
#include "findings/findings.h"
#include "live/own_trigger.h"
#include "live/tracing_internal.h"
#include "session/backlog.h"
#include "symbol/symbol.h"

enum { SUSPENSION_MIN_NS = 100000000 };

/* What getrusage() tells includes what this process was before its exec. */
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
	report->cost.events_deferred = backlog_counts(tracing->engine.backlog).deferred;
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

static void put_system_note(struct tracing *tracing, struct text *notes)
{
	uint64_t lost = kernel_system_lost(tracing->kernel);

	if (!lost)
		return;
	text_printf(notes, "%llu records of interrupts, packets and disks were lost: --ring-kb enlarges their buffers",
		    (unsigned long long)lost);
	text_put_bytes(notes, "", 1);
}

static void put_klock_note(struct tracing *tracing, struct text *notes)
{
	uint64_t lost = kernel_klocks_lost(tracing->kernel);

	if (!lost)
		return;
	text_printf(notes,
		    "%llu waits for kernel locks were not recorded: an interrupt waited while another wait was being "
		    "recorded",
		    (unsigned long long)lost);
	text_put_bytes(notes, "", 1);
}

/* The clocks are read one after the other. */
static void put_suspension(const struct tracing *tracing, struct text *notes)
{
	uint64_t suspended_ns = clock_suspended_ns() - tracing->suspended_ns;

	if (suspended_ns < SUSPENSION_MIN_NS || suspended_ns > UINT64_MAX / 2)
		return;
	text_put(notes, "the machine was suspended for ");
	text_put_duration(notes, suspended_ns);
	text_put(notes, " during tracing: no figure includes that time");
	text_put_bytes(notes, "", 1);
}

void tracing_put_notes(struct tracing *tracing, struct text *notes)
{
	const char *note = kernel_sampling_note(tracing->kernel);

	if (note)
		text_put_bytes(notes, note, strlen(note) + 1);
	note = tracing->resolver ? resolver_note(tracing->resolver) : NULL;
	if (note)
		text_put_bytes(notes, note, strlen(note) + 1);
	if (tracing->functions)
		span_functions_put_notes(tracing->functions, notes);
	if (tracing->usdt)
		usdt_probes_put_notes(tracing->usdt, notes);
	own_areas_put_notes(tracing->own_areas, notes);
	if (tracing->own_trigger)
		own_trigger_put_notes(tracing->own_trigger, notes);
	put_system_note(tracing, notes);
	put_klock_note(tracing, notes);
	kernel_put_acquisition_notes(tracing->kernel, notes);
	put_suspension(tracing, notes);
	tracing_put_target_notes(tracing, notes);
}

static struct findings_input findings_input(struct tracing *tracing, size_t path_count_max, struct pause *pause)
{
	struct findings_input input = engine_findings_input(&tracing->engine);

	input.sample_period_ns = tracing->settings->kernel.sample_period_ns;
	input.path_count_max = path_count_max;
	input.tells_kernel_apart = tracing->settings->kernel.kernel_stacks;
	input.cpu_count = sysconf(_SC_NPROCESSORS_CONF);
	input.pause = pause;
	return input;
}

/* What goes on is counted up to where all events are known. */
static struct findings *find(struct tracing *tracing, const struct findings_input *input)
{
	struct findings *findings;

	if (tracing->ended_ns)
		return findings_new(input);
	backlog_catch_up(tracing->engine.backlog, 0, input->pause);
	criticality_advance(tracing->engine.criticality, collector_delivered_ns(tracing->collector));
	criticality_count_open_waits(tracing->engine.criticality);
	findings = findings_new(input);
	criticality_uncount_open_waits(tracing->engine.criticality);
	return findings;
}

/* For the report: since when whoever ran it has nothing else to wait for. */
static uint64_t waited_since_ns(const struct tracing *tracing)
{
	return tracing->command_ended_ns ? tracing->command_ended_ns : tracing->ended_ns;
}

struct findings *tracing_findings(struct tracing *tracing, const struct outcome *outcome, size_t path_count_max,
				  struct pause *pause)
{
	struct findings_input input = findings_input(tracing, path_count_max, pause);
	uint64_t begin_ns = clock_ns();
	struct findings *findings = find(tracing, &input);
	struct report *report = findings_report(findings);
	bool is_over = tracing->ended_ns;
	struct text notes = { 0 };

	report->target.command = outcome->command;
	report->target.pids = outcome->pids;
	report->target.pid_count = outcome->pid_count;
	report->target.exit_status = outcome->exit_status;
	add_kernel_counts(tracing, report);
	add_stack_counts(tracing, report);
	tracing_put_notes(tracing, &notes);
	notes_fill(notes.bytes, notes.length, findings);
	text_fini(&notes);
	report->cost.startup_ns = tracing->started_ns - tracing->opened_ns;
	report->cost.collector_cpu_ns = (is_over ? tracing->ended_cpu_ns : clock_cpu_ns()) - tracing->started_cpu_ns;
	report->cost.peak_rss_bytes = peak_rss_bytes() + symbols_memory_bytes(tracing->engine.symbols);
	report->cost.post_processing_ns = clock_ns() - (is_over ? waited_since_ns(tracing) : begin_ns);
	return findings;
}

void tracing_name_all(struct tracing *tracing)
{
	struct findings_input input = findings_input(tracing, SIZE_MAX, NULL);

	findings_free(find(tracing, &input));
}
