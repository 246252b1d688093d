/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/span_choice.h"
#include "query/trace_states.h"
#include "show/show_files.h"
#include "stacks/fold.h"
#include "states/states.h"
#include "view/graph/graph_svg.h"
#include "view/graph/graph_text.h"
#include "view/html/html.h"
#include "view/output.h"
#include "view/view.h"

static int write_json(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	struct text out = { 0 };
	int err;

	graph_put_json(&out, graph, labels, SIZE_MAX);
	err = output_write(settings->json_path, &out);
	text_fini(&out);
	return err;
}

static int write_html(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	struct html *html = html_new();
	int err;

	graph_put_json(html_part(html, "graph"), graph, labels, HTML_GRAPH_NODES_MAX);
	err = show_html(settings, html);
	html_free(html);
	return err;
}

static int write_pictures(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	const struct graph_settings *options = &settings->graph;
	struct text dot = { 0 }, svg = { 0 };
	int err = 0;

	if (!options->dot_path && !options->svg_path)
		return 0;
	graph_put_dot(&dot, graph, labels, options->share_min);
	if (options->dot_path)
		err = output_write(options->dot_path, &dot);
	if (!err && options->svg_path) {
		err = graph_dot_to_svg(dot.bytes, &svg);
		if (!err)
			err = output_write(options->svg_path, &svg);
	}
	text_fini(&dot);
	text_fini(&svg);
	return err;
}

static int write_text(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	bool has_unicode = settings->text_path || view_style_for(STDOUT_FILENO).has_unicode;
	struct text out = { 0 };
	int err;

	graph_put_text(&out, graph, labels, settings->graph.share_min, has_unicode);
	err = output_write(settings->text_path ? settings->text_path : "-", &out);
	text_fini(&out);
	return err;
}

static int show(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	const struct graph_settings *options = &settings->graph;
	bool has_other = settings->json_path || options->dot_path || options->svg_path || settings->html_path;
	int err = 0;

	if (settings->json_path)
		err = write_json(settings, graph, labels);
	if (!err && settings->html_path)
		err = write_html(settings, graph, labels);
	if (!err)
		err = write_pictures(settings, graph, labels);
	if (!err && (settings->text_path || !has_other))
		err = write_text(settings, graph, labels);
	return err;
}

static int make_and_show(const struct settings *settings, const struct trace_states *all,
			 const struct chosen_threads *chosen, const struct fold_rules *fold)
{
	struct graph_labels *labels = trace_states_labels(all, fold, settings->graph.is_by_group);
	struct graph graph;
	int err;

	graph_of_threads(all->states, chosen->numbers, chosen->count,
			 &(struct graph_options){
				 .from_ns = trace_states_time(all, settings->range.from_ns),
				 .to_ns = trace_states_time(all, settings->range.to_ns),
				 .depth_max = settings->graph.depth_max,
				 .share_min = settings->graph.share_min,
				 .key_of = graph_label_key,
				 .key_data = labels,
			 },
			 &graph);
	err = show(settings, &graph, labels);
	graph_fini(&graph);
	graph_labels_free(labels);
	return err;
}

static int graph_states(const struct settings *settings, const char *path, struct trace_states *all)
{
	struct fold_rules *fold = fold_rules_new();
	struct chosen_threads chosen = { 0 };
	struct settings part;
	int err = fold_rules_add_user(fold);

	if (!err)
		err = part_find(settings, path, all, &part, &chosen);
	if (!err)
		err = make_and_show(&part, all, &chosen, fold);
	chosen_threads_fini(&chosen);
	fold_rules_free(fold);
	return err;
}

static int graph_trace(const struct settings *settings, const char *path)
{
	struct trace_states all;
	int err = trace_states_open(path, settings->opens_files, &all);

	if (err)
		return EXIT_FAILED;
	err = graph_states(settings, path, &all);
	trace_states_close(&all);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int graph_checked(const struct settings *settings, int argc, char **argv, int rest)
{
	if (rest + 1 != argc) {
		fail_plain(-EINVAL, "no trace given: pinch graph [options] FILE");
		return EXIT_USAGE;
	}
	if (dependency_check(settings))
		return EXIT_USAGE;
	return graph_trace(settings, argv[rest]);
}

static int graph_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &graph_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&graph_command);
		else
			status = graph_checked(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static int set_depth(struct settings *settings, const char *argument)
{
	enum { DEPTH_MAX = 64 };

	return number_parse("depth", argument, 1, DEPTH_MAX, &settings->graph.depth_max);
}

static const struct option_spec graph_options[] = {
	{ "depth", 0, "N", "nest at most N threads (default: 16)", set_depth },
	{ 0 },
};

static const struct option_spec *const options[] = {
	range_options, thread_options,  whose_options, merged_options, dependency_options,
	graph_options, picture_options, html_options,  names_options,  common_options,
	NULL,
};

const struct command graph_command = {
	.name = "graph",
	.usage = "[options] FILE",
	.summary = "Show what and whom threads waited for, and what those did meanwhile, from a trace",
	.description = "FILE is a trace of pinch record. Below each thread stands what it waited for and whom,\n"
		       "with times; below those, what they did in that time.",
	.options = options,
	.run = graph_run,
};
