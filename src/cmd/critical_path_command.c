/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/critical_path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/span_choice.h"
#include "query/trace_states.h"
#include "stacks/fold.h"
#include "states/states.h"
#include "view/graph/path_text.h"
#include "view/output.h"

/* Of several threads, the one that lived first: that of the command, or the oldest of a process. */
static int show_path(const struct settings *settings, const struct trace_states *all, uint32_t thread,
		     const struct fold_rules *fold)
{
	struct graph_labels *labels = trace_states_labels(all, fold, settings->graph.is_by_group);
	struct critical_path path;
	struct path_view view = {
		.path = &path,
		.labels = labels,
		.thread = thread,
		.first_ns = trace_states_time(all, 0),
		.share_min = settings->graph.share_min,
	};
	struct text out = { 0 };
	int err = 0;

	critical_path_of(all->states, thread, trace_states_time(all, settings->range.from_ns),
			 trace_states_time(all, settings->range.to_ns), &path);
	if (settings->json_path) {
		path_put_json(&out, &view, SIZE_MAX);
		err = output_write(settings->json_path, &out);
		out.length = 0;
	}
	if (!err && (settings->text_path || !settings->json_path)) {
		path_put_text(&out, &view);
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	}
	text_fini(&out);
	critical_path_fini(&path);
	graph_labels_free(labels);
	return err;
}

static int path_of_states(const struct settings *settings, const char *trace_path, const struct trace_states *all)
{
	struct fold_rules *fold = fold_rules_new();
	struct chosen_threads chosen = { 0 };
	struct settings *part = xcalloc(1, sizeof(*part));
	int err = fold_rules_add_user(fold);

	if (!err)
		err = part_find(settings, trace_path, all, part, &chosen);
	if (!err)
		err = show_path(part, all, chosen.numbers[0], fold);
	chosen_threads_fini(&chosen);
	free(part);
	fold_rules_free(fold);
	return err;
}

static int path_of_trace(const struct settings *settings, const char *trace_path)
{
	struct trace_states all;
	int err = trace_states_open(trace_path, settings->opens_files, settings->own_span, &all);

	if (err)
		return EXIT_FAILED;
	err = path_of_states(settings, trace_path, &all);
	trace_states_close(&all);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int path_checked(const struct settings *settings, int argc, char **argv, int rest)
{
	if (rest + 1 != argc) {
		fail_plain(-EINVAL, "no trace given: pinch critical-path [options] FILE");
		return EXIT_USAGE;
	}
	if (dependency_check(settings))
		return EXIT_USAGE;
	return path_of_trace(settings, argv[rest]);
}

static int path_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &critical_path_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&critical_path_command);
		else
			status = path_checked(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = {
	range_options,      thread_options, whose_options,  merged_options,
	dependency_options, names_options,  common_options, NULL,
};

const struct command critical_path_command = {
	.name = "critical-path",
	.usage = "[options] FILE",
	.summary = "Show what a thread was blocked on, moment by moment, from a trace",
	.description = "FILE is a trace of pinch record. The path is that of the first thread, or of --thread:\n"
		       "what that thread does and, while it waits, what the threads do that it waits for.",
	.options = options,
	.run = path_run,
};
