/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/report_html.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "graph/critical_path.h"
#include "graph/graph.h"
#include "graph/graph_choice.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "show/trace_marks.h"
#include "show/trace_timelines.h"
#include "view/graph/graph_text.h"
#include "view/graph/path_text.h"
#include "view/html/html.h"

enum { PATH_PARTS_MAX = 50000 }; /* more than a screen has pixels, even after some zooming */

/* Threads of one name are one: of all of them, a picture would show nothing. */
static void add_graph(struct html *html, const struct settings *settings, const struct trace_states *all,
		      const struct chosen_threads *threads, struct graph_labels *labels)
{
	struct graph graph;

	graph_of_threads(all->states, threads->numbers, threads->count,
			 &(struct graph_options){
				 .from_ns = trace_states_time(all, 0),
				 .to_ns = trace_states_time(all, UINT64_MAX),
				 .share_min = settings->graph.share_min,
				 .merges_contexts = true,
				 .key_of = graph_label_key,
				 .key_data = labels,
			 },
			 &graph);
	if (wait_choice_is_set(&settings->choice))
		graph_choose(&graph, labels, &settings->choice);
	graph_put_json(html_part(html, "graph"), &graph, labels, HTML_GRAPH_NODES_MAX);
	graph_fini(&graph);
}

static void add_path(struct html *html, const struct trace_states *all, uint32_t thread, struct graph_labels *labels)
{
	struct critical_path path;

	critical_path_of(all->states, thread, trace_states_time(all, 0), UINT64_MAX, &path);
	path_put_json(html_part(html, "path"),
		      &(struct path_view){
			      .path = &path,
			      .labels = labels,
			      .thread = thread,
			      .first_ns = trace_states_time(all, 0),
		      },
		      PATH_PARTS_MAX);
	critical_path_fini(&path);
}

static void add_states(struct html *html, const struct settings *settings, const struct trace_states *all,
		       const struct chosen_threads *threads, const struct fold_rules *fold)
{
	struct graph_labels *merged = trace_states_labels(all, fold, true);
	struct graph_labels *labels = trace_states_labels(all, fold, false);

	trace_timelines_put(html_part(html, "timelines"), all);
	add_graph(html, settings, all, threads, merged);
	add_path(html, all, threads->numbers[0], labels);
	graph_labels_free(labels);
	graph_labels_free(merged);
}

static void add_all(struct html *html, const struct settings *settings, const char *trace_path,
		    const struct trace_states *all, const struct fold_rules *fold)
{
	struct chosen_threads threads = { 0 };

	if (!chosen_threads_find(settings, trace_path, all, &threads) && threads.count)
		add_states(html, settings, all, &threads, fold);
	trace_marks_add(html, all, trace_path);
	chosen_threads_fini(&threads);
}

void report_html_add(struct html *html, const struct settings *settings, const char *trace_path,
		     const struct fold_rules *fold)
{
	struct trace_states all;

	if (trace_states_open(trace_path, settings->opens_files, NULL, &all))
		return;
	add_all(html, settings, trace_path, &all, fold);
	trace_states_close(&all);
}

static bool is_regular(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

void report_html_add_for_once(struct html *html, const struct settings *settings, const char *trace_path,
			      const struct fold_rules *fold)
{
	struct trace_states all;

	if (!is_regular(trace_path) || trace_states_open_for_once(trace_path, false, &all))
		return;
	add_all(html, settings, trace_path, &all, fold);
	trace_states_close(&all);
}
