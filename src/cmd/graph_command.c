/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "graph/lost_most.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/span_choice.h"
#include "query/trace_states.h"
#include "session/threads.h"
#include "show/show_graph.h"
#include "stacks/fold.h"

/* --- Where to begin --------------------------------------------------------------------------- */

/* What was chosen for a user who chose nothing. */
struct start {
	struct lost_stretch lost; /* zeros: nothing was */
	struct text words;
};

static bool is_part(const struct settings *settings)
{
	return settings->graph.execution || settings->threads.count || settings->processes.count ||
	       settings->range.from_ns || settings->range.to_ns != UINT64_MAX;
}

static void put_start(struct text *out, const struct trace_states *all, const struct lost_stretch *lost)
{
	const struct thread *thread = threads_get(all->threads, lost->thread);
	uint64_t first_ns = trace_states_time(all, 0);

	text_put(out, "Begins where one thread lost most: ");
	text_put_escaped(out, *thread->name ? thread->name : "a thread");
	text_printf(out, " (tid %u) from %.6f s to %.6f s, of which it lost ", thread->tid,
		    (lost->begin_ns - first_ns) / 1e9, (lost->end_ns - first_ns) / 1e9);
	text_put_duration(out, lost->lost_ns);
	text_put(out, ".\nTo begin elsewhere: --thread, --process, --span, --from, --to; all threads: --all.\n\n");
}

/* Nobody said of whom and when: it is the thread and the stretch of time that lost most, merged. */
static void start_at_loss(const struct trace_states *all, struct settings *part, struct chosen_threads *chosen,
			  struct start *start)
{
	struct lost_stretch *lost = &start->lost;
	uint64_t first_ns = trace_states_time(all, 0);

	part->graph.is_by_group = true;
	if (!lost_most_find(all->states, all->files, chosen->numbers, chosen->count, first_ns, UINT64_MAX, lost)) {
		text_put(&start->words,
			 "No thread lost time that it did not sleep; this is the graph of all threads.\n\n");
		return;
	}
	put_start(&start->words, all, lost);
	part->range.from_ns = lost->begin_ns - first_ns;
	part->range.to_ns = lost->end_ns - first_ns;
	chosen->numbers[0] = lost->thread;
	chosen->count = 1;
}

/* --- The command ------------------------------------------------------------------------------ */

static int make_and_show(const struct settings *settings, const struct trace_states *all,
			 const struct chosen_threads *chosen, const struct fold_rules *fold, const struct start *start)
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
				 .merges_contexts = settings->graph.is_by_group,
				 .key_of = graph_label_key,
				 .key_data = labels,
			 },
			 &graph);
	graph.lost_ns = start->lost.lost_ns;
	err = show_graph(settings, &graph, labels, start->words.bytes);
	graph_fini(&graph);
	graph_labels_free(labels);
	return err;
}

static int graph_states(const struct settings *settings, const char *path, struct trace_states *all)
{
	struct fold_rules *fold = fold_rules_new();
	struct chosen_threads chosen = { 0 };
	struct start start = { 0 };
	struct settings *part = xcalloc(1, sizeof(*part));
	int err = fold_rules_add_user(fold);

	if (!err)
		err = part_find(settings, path, all, part, &chosen);
	if (!err && !is_part(settings) && !settings->graph.is_whole && !settings->graph.is_by_group)
		start_at_loss(all, part, &chosen, &start);
	if (!err)
		err = make_and_show(part, all, &chosen, fold, &start);
	text_fini(&start.words);
	chosen_threads_fini(&chosen);
	free(part);
	fold_rules_free(fold);
	return err;
}

static int graph_trace(const struct settings *settings, const char *path)
{
	struct trace_states all;
	int err = trace_states_open(path, settings->opens_files, settings->own_span, &all);

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
	if (settings->graph.is_whole && is_part(settings)) {
		fail_plain(-EINVAL, "--all is all threads and all the time: leave out --thread, --process, --span, "
				    "--from and --to");
		return EXIT_USAGE;
	}
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

static int set_all(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->graph.is_whole = true;
	return 0;
}

static const struct option_spec graph_options[] = {
	{ "all", 0, NULL, "all threads and all the time, each thread by itself", set_all },
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
		       "with times; below those, what they did in that time. Without --thread, --process, --span,\n"
		       "--from, --to, --merge and --all it begins where one thread lost most.",
	.options = options,
	.run = graph_run,
};
