/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/table.h"
#include "cmd/run_command.h"
#include "cmd/trace_source.h"
#include "engine/replay.h"
#include "engine/trace_open.h"
#include "findings/findings.h"
#include "lanes/chosen_parts.h"
#include "options/settings.h"
#include "query/filter_threads.h"
#include "query/report_whatifs.h"
#include "show/report_html.h"
#include "show/report_tui.h"
#include "show/show.h"
#include "show/show_files.h"
#include "trace/trace_reader.h"
#include "tui/tui.h"
#include "view/html/html.h"

/* What is made besides the findings. */
struct additions {
	struct report_whatifs whatifs;
	struct chosen_parts parts;
};

static void fill(const struct additions *additions, struct report *report)
{
	report_whatifs_fill(&additions->whatifs, report);
	chosen_parts_fill(&additions->parts, report);
}

/* For a browser, and as tables. */
static int write_files(const struct settings *settings, const char *path, struct replay *replay,
		       const struct additions *additions)
{
	struct html *html = settings->html_path ? html_new() : NULL;
	struct findings *findings;
	int err;

	if (html)
		report_html_add(html, settings, path, replay_fold_rules(replay));
	findings = replay_findings(replay, show_files_path_count(settings));
	fill(additions, findings_report(findings));
	err = show_files(settings, replay_fold_rules(replay), findings_report(findings), html);
	html_free(html);
	findings_free(findings);
	return err;
}

static int show_replay(const struct settings *settings, const char *path, struct replay *replay)
{
	int err = settings->has_tui ? report_tui(settings, path, replay) : 0;
	struct additions additions = { 0 };
	struct findings *findings;

	if (err || (!show_is_asked(settings) && !show_files_are_asked(settings)))
		return err;
	findings = replay_findings(replay, settings->path_count_max);
	report_whatifs_find(path, settings->opens_files, replay_fold_rules(replay), findings_report(findings),
			    &settings->choice, &additions.whatifs);
	err = chosen_parts_find(settings, path, replay_fold_rules(replay), &additions.parts);
	fill(&additions, findings_report(findings));
	if (!err && show_files_are_asked(settings))
		err = write_files(settings, path, replay, &additions);
	if (!err && show_is_asked(settings))
		err = show_report(settings, replay_fold_rules(replay), findings_report(findings));
	findings_free(findings);
	chosen_parts_fini(&additions.parts);
	report_whatifs_fini(&additions.whatifs);
	return err;
}

/* Threads that the filter names: the trace is read for them first. */
static int find_threads(struct event_filter *filter, const char *path, struct table **threads)
{
	struct trace_reader *reader;
	int err;

	if (!filter->words[FILTER_THREAD].count)
		return 0;
	err = trace_open(path, &reader);
	if (err)
		return err;
	err = filter_threads_find(filter, reader, path, threads);
	trace_reader_close(reader);
	return err;
}

int report_traced(const struct settings *settings, const char *path)
{
	struct event_filter filter = settings->filter;
	struct table *threads = NULL;
	struct replay *replay;
	int err;

	if (settings->has_tui && tui_check())
		return EXIT_USAGE;
	out_file_keep(path); /* before an output is found to be that, too */
	err = show_check(settings);
	if (!err)
		err = find_threads(&filter, path, &threads);
	if (!err)
		err = replay_open(path,
				  &(struct replay_options){
					  .has_critical_slices = settings->has_critical_slices,
					  .keeps_strips = settings->has_tui || settings->html_path,
					  .opens_files = settings->opens_files,
					  .scripts = settings->scripts,
					  .script_count = settings->script_count,
					  .filter = event_filter_is_set(&filter) ? &filter : NULL,
					  .choice = &settings->choice,
				  },
				  &replay);
	if (err)
		goto out_free;
	err = show_replay(settings, path, replay);
	replay_close(replay);

out_free:
	table_free(threads);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int report_source(const struct settings *settings, const char *argument)
{
	struct trace_source source;
	int err, status;

	err = trace_source_open(settings, argument, &source);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	status = report_traced(settings, source.path);
	trace_source_close(&source);
	return status;
}

static int report_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	settings.is_reporting = true;
	if (settings_parse(&settings, &report_command, argc, argv, &rest))
		goto out_fini;
	status = 0;
	if (settings.wants_help) {
		command_help(&report_command);
	} else if (rest + 1 != argc) {
		fail_plain(-EINVAL, "no trace given: pinch report [options] FILE");
		status = EXIT_USAGE;
	} else {
		status = report_source(&settings, argv[rest]);
	}

out_fini:
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = {
	tui_options,   report_options, choice_options,  part_options,   filter_options, html_options, table_options,
	quiet_options, names_options,  receive_options, stream_options, common_options, NULL,
};

const struct command report_command = {
	.name = "report",
	.usage = "[options] FILE",
	.summary = "Show the report of a trace",
	.description = "FILE is a trace of pinch record, or of run or attach with --trace, from this or another\n"
		       "machine. A truncated trace is reported up to where it ends. tcp:HOST:PORT, tls:HOST:PORT and\n"
		       "unix:PATH are the trace of a pinch scope: Ctrl-C reports what came until then.",
	.options = options,
	.run = report_run,
};
