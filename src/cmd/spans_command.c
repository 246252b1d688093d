/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "options/own_span_option.h"
#include "options/settings.h"
#include "query/execution_features.h"
#include "query/span_choice.h"
#include "query/trace_states.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "stacks/fold.h"
#include "view/output.h"
#include "view/trace/spans_view.h"

/* Those of the spans that are wanted. */
static void fill_rows(const struct trace_states *all, const struct features *features, struct spans_view *view)
{
	const struct executions *executions = execution_log_all(all->executions);
	uint32_t numbers[SPANS_MAX] = { 0 };

	view->rows = xcalloc(executions->count + 1, sizeof(*view->rows));
	for (size_t i = 0; i < executions->count; i++) {
		const struct execution *execution = &executions->list[i];

		if (view->spans[execution->span])
			view->rows[view->count++] = (struct span_row){
				.execution = execution,
				.features = &features[i],
				.number = ++numbers[execution->span],
				.has_gap = execution_log_has_gap(all->executions, execution),
			};
	}
}

static int write_view(const struct settings *settings, const struct spans_view *view)
{
	struct text out = { 0 };
	int err = 0;

	if (settings->json_path) {
		spans_put_json(&out, view);
		err = output_write(settings->json_path, &out);
		out.length = 0;
	}
	if (!err && (settings->text_path || !settings->json_path)) {
		spans_put_text(&out, view);
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	}
	text_fini(&out);
	return err;
}

static int choose_spans(const struct settings *settings, const char *path, const struct trace_states *all,
			struct spans_view *view)
{
	const char *name = settings->graph.execution;
	int wanted = name ? span_find(all, path, name) : 0, count = 0;

	if (wanted < 0)
		return wanted;
	for (int i = 0; i < SPANS_MAX; i++) {
		if (!name || i == wanted)
			view->spans[i] = execution_log_span(all->executions, i);
		count += view->spans[i] != NULL;
	}
	if (!count)
		return fail_plain(-ENOENT, "%s contains no spans: record it with --span, see pinch help record", path);
	return 0;
}

static int show_spans(const struct settings *settings, const char *path, const struct trace_states *all)
{
	size_t count = execution_log_all(all->executions)->count;
	struct features *features = xcalloc(count + 1, sizeof(*features));
	struct fold_rules *fold = fold_rules_new();
	struct spans_view view = {
		.first_ns = trace_states_time(all, 0),
		.row_count_max = settings->path_count_max,
		.is_by_begin = settings->is_by_begin,
	};
	int err = choose_spans(settings, path, all, &view);

	if (!err)
		err = execution_features(path, all, execution_log_all(all->executions), features);
	if (!err) {
		view.labels = trace_states_labels(all, fold, false);
		fill_rows(all, features, &view);
		err = write_view(settings, &view);
		graph_labels_free(view.labels);
	}
	free(view.rows);
	fold_rules_free(fold);
	free(features);
	return err;
}

static int spans_of_trace(const struct settings *settings, const char *path)
{
	struct trace_states all;
	int err = trace_states_open(path, settings->opens_files, settings->own_span, &all);

	if (err)
		return EXIT_FAILED;
	err = show_spans(settings, path, &all);
	trace_states_close(&all);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int spans_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &spans_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help) {
			command_help(&spans_command);
		} else if (rest + 1 != argc) {
			fail_plain(-EINVAL, "no trace given: pinch spans [options] FILE");
			status = EXIT_USAGE;
		} else {
			status = spans_of_trace(&settings, argv[rest]);
		}
	}
	settings_fini(&settings);
	return status;
}

static int set_span(struct settings *settings, const char *argument)
{
	settings->graph.execution = argument;
	return own_span_option(settings, argument);
}

static int set_sort(struct settings *settings, const char *argument)
{
	settings->is_by_begin = !strcmp(argument, "begin");
	if (!settings->is_by_begin && strcmp(argument, "duration"))
		return fail_plain(-EINVAL, "--sort takes begin or duration, not '%s'", argument);
	return 0;
}

static int set_top(struct settings *settings, const char *argument)
{
	enum { TOP_MAX = 1000000 };

	return number_parse("top", argument, 1, TOP_MAX, &settings->path_count_max);
}

static const struct option_spec spans_options[] = {
	{ "span", 0, "NAME", "only executions of this span", set_span },
	{ "sort", 0, "WORD", "duration (default, longest first) or begin", set_sort },
	{ "top", 0, "N", "executions to show (default: 10)", set_top },
	{ "json", 0, "FILE", "write all of them as JSON; - is standard output", settings_set_json },
	{ "output", 'o', "FILE", "write the text to FILE", settings_set_output },
	{ 0 },
};

static const struct option_spec *const options[] = { spans_options, names_options, common_options, NULL };

const struct command spans_command = {
	.name = "spans",
	.usage = "[options] FILE",
	.summary = "Show the tasks (spans) in a trace: how long they took, and where that time went",
	.description = "FILE is a trace of pinch record --span. The durations come first, with what the slowest\n"
		       "executions do more of than the others; then the longest executions.",
	.options = options,
	.run = spans_run,
};
