/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a run of tracing: its trace, and the views of what was found. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/recorder.h"
#include "engine/run_events.h"
#include "findings/findings.h"
#include "live/memory_trace.h"
#include "live/serving.h"
#include "live/tracing_internal.h"
#include "query/report_whatifs.h"
#include "show/report_html.h"
#include "show/show.h"
#include "show/show_files.h"
#include "symbol/symbol.h"
#include "trace/trace_writer.h"
#include "view/html/html.h"

/* As pinch check gives its size. */
static void report_written(const struct settings *settings, const struct trace_writer_counts *counts)
{
	const char *path = settings->trace_path;
	struct text text = { 0 };

	text_put(&text, trace_ring_is_asked(&settings->ring) ? "the last of " : "");
	text_put_count(&text, counts->events);
	text_put(&text, " events, ");
	text_put_size(&text, counts->file_bytes);
	if (strcmp(path, "-"))
		fprintf(stderr, "pinch: wrote %s: %s; see pinch report %s\n", path, text.bytes, path);
	else
		fprintf(stderr, "pinch: wrote a trace to standard output: %s\n", text.bytes);
	text_fini(&text);
}

static bool is_recording(const struct tracing *tracing)
{
	return tracing->recorder && (!tracing->memory || memory_trace_is_there(tracing->memory));
}

/* Somebody gets the trace: a file, or a client. */
static bool is_heard(const struct tracing *tracing)
{
	return is_recording(tracing) || tracing->settings->stream.listen || serving_has_clients(tracing->serving);
}

static int end_recording(struct tracing *tracing, const struct report *report)
{
	bool has_file = tracing->recorder && !tracing->memory;
	struct trace_writer_counts counts;
	struct text notes = { 0 };
	int err = 0;

	symbols_keep_notes(tracing->engine.symbols); /* those of the report */
	tracing_name_all(tracing);
	tracing_put_notes(tracing, &notes);
	end_event_hand_out(tracing->engine.session, tracing->ended_ns, report, &notes);
	text_fini(&notes);
	if (is_recording(tracing))
		err = recorder_finish(tracing->recorder, &counts);
	serving_finish(tracing->serving, tracing->settings->is_quiet);
	if (!err && has_file && !tracing->settings->is_quiet)
		report_written(tracing->settings, &counts);
	return err;
}

/* What was recorded; NULL: nothing was. */
static const char *recorded_path(const struct tracing *tracing)
{
	return tracing->memory ? memory_trace_path(tracing->memory) : tracing->settings->trace_path;
}

/* The page for a browser with what a trace tells beyond the report. A flight recorder's has no beginning. */
static struct html *begin_page(const struct tracing *tracing, bool is_recorded)
{
	const struct settings *settings = tracing->settings;
	struct html *html = settings->html_path ? html_new() : NULL;

	if (html && is_recorded && recorded_path(tracing) && !trace_ring_is_asked(&settings->ring))
		report_html_add_for_once(html, settings, recorded_path(tracing), tracing->engine.fold);
	return html;
}

static int write_files(struct tracing *tracing, const struct outcome *outcome, bool is_recorded,
		       const struct report_whatifs *whatifs)
{
	const struct settings *settings = tracing->settings;
	struct findings *findings;
	struct html *html;
	int err;

	if (!show_files_are_asked(settings))
		return 0;
	html = begin_page(tracing, is_recorded);
	findings = tracing_findings(tracing, outcome, show_files_path_count(settings), NULL);
	report_whatifs_fill(whatifs, findings_report(findings));
	err = show_files(settings, tracing->engine.fold, findings_report(findings), html);
	findings_free(findings);
	html_free(html);
	return err;
}

/* Of a trace that can be read: a ring has no beginning, a pipe is gone. */
static void find_whatifs(struct tracing *tracing, const struct report *report, struct report_whatifs *whatifs)
{
	const struct settings *settings = tracing->settings;
	const char *path = recorded_path(tracing);

	if (path && (show_is_asked(settings) || show_files_are_asked(settings)))
		report_whatifs_find(path, false, tracing->engine.fold, report, NULL, whatifs);
}

int tracing_report(struct tracing *tracing, const struct outcome *outcome)
{
	const struct settings *settings = tracing->settings;
	struct report_whatifs whatifs = { 0 };
	struct findings *findings;
	bool is_recorded = false;
	int err = 0, files_err = 0, record_err = 0;

	tracing_finish(tracing);
	if (!show_is_asked(settings) && !show_files_are_asked(settings) && !is_heard(tracing))
		goto out_save;
	findings = tracing_findings(tracing, outcome, settings->path_count_max, NULL);
	if (is_heard(tracing)) {
		record_err = end_recording(tracing, findings_report(findings));
		is_recorded = is_recording(tracing) && !record_err;
		if (!record_err)
			find_whatifs(tracing, findings_report(findings), &whatifs);
		if (tracing->memory)
			record_err = 0;
		report_whatifs_fill(&whatifs, findings_report(findings));
	}
	files_err = write_files(tracing, outcome, is_recorded, &whatifs);
	if (show_is_asked(settings))
		err = show_report(settings, tracing->engine.fold, findings_report(findings));
	findings_free(findings);
	report_whatifs_fini(&whatifs);

out_save:
	symbols_save_cache(tracing->engine.symbols);
	return err ? err : files_err ? files_err : record_err;
}
