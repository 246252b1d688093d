/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <math.h>

#include "graph/graph.h"
#include "graph/graph_label.h"
#include "spans/execution.h"
#include "spans/features.h"

void comparison_init(struct comparison *comparison, bool is_of_runs, double share_min)
{
	*comparison = (struct comparison){
		.set = graph_set_new(is_of_runs),
		.is_of_runs = is_of_runs,
		.share_min = share_min,
	};
}

void comparison_fini(struct comparison *comparison)
{
	graph_set_free(comparison->set);
	*comparison = (struct comparison){ 0 };
}

static void add_figures(struct comparison_side *side, const double values[FIGURES])
{
	for (unsigned int i = 0; i < FIGURES; i++)
		sample_add(&side->figures[i], values[i]);
}

static void add_graph(struct comparison *comparison, unsigned int side, const struct compared_trace *trace,
		      const struct compared_run *run, double scale)
{
	struct graph graph;

	/* What is reported of one side must not be missing on the other because it was cut there. */
	graph_of_threads(trace->states, run->threads, run->thread_count,
			 &(struct graph_options){
				 .from_ns = run->from_ns,
				 .to_ns = run->to_ns,
				 .share_min = comparison->share_min / 10,
				 .key_of = graph_label_key,
				 .key_data = trace->labels,
			 },
			 &graph);
	graph_set_add(comparison->set, side, &graph, trace->labels, scale);
	graph_fini(&graph);
}

void comparison_add(struct comparison *comparison, unsigned int side, const struct compared_trace *trace,
		    const struct execution *execution, const double values[FIGURES], bool has_graph)
{
	add_figures(&comparison->sides[side], values);
	if (has_graph)
		add_graph(comparison, side, trace,
			  &(struct compared_run){
				  .threads = &execution->thread,
				  .thread_count = 1,
				  .from_ns = execution->begin_ns,
				  .to_ns = execution->end_ns,
			  },
			  1);
}

void comparison_add_run(struct comparison *comparison, unsigned int side, const struct compared_trace *trace,
			const struct compared_run *run)
{
	uint64_t duration_ns = run->to_ns - run->from_ns;
	double values[FIGURES] = { 0 }, scale = 1;

	for (size_t i = 0; i < run->thread_count; i++)
		figures_add(values, &run->features[i]);
	values[FIGURE_DURATION] = duration_ns;
	if (comparison->is_per_second && duration_ns)
		scale = 1e9 / duration_ns;
	for (unsigned int i = 0; i < FIGURES; i++)
		if (i != FIGURE_DURATION)
			values[i] *= scale;
	add_figures(&comparison->sides[side], values);
	add_graph(comparison, side, trace, run, scale);
}

struct difference comparison_of_figure(const struct comparison *comparison, unsigned int figure)
{
	return difference_of(&comparison->sides[FIRST_SIDE].figures[figure],
			     &comparison->sides[SECOND_SIDE].figures[figure]);
}

struct difference comparison_of_node(const struct comparison *comparison, size_t at)
{
	const struct graph_set_node *node = &comparison->set->nodes[at];
	struct sample first = graph_set_ns(comparison->set, node, FIRST_SIDE);
	struct sample second = graph_set_ns(comparison->set, node, SECOND_SIDE);
	struct difference difference = difference_of(&first, &second);

	if (!node->ns[FIRST_SIDE].count || !node->ns[SECOND_SIDE].count)
		difference.boldness = 0;
	return difference;
}

double comparison_delta(const struct comparison *comparison, size_t at)
{
	const struct graph_set_node *node = &comparison->set->nodes[at];

	return graph_set_ns(comparison->set, node, SECOND_SIDE).mean -
	       graph_set_ns(comparison->set, node, FIRST_SIDE).mean;
}

double comparison_least_ns(const struct comparison *comparison)
{
	double longest_ns = 0;

	if (comparison->is_per_second)
		return comparison->share_min * 1e9;
	for (unsigned int side = 0; side < SIDES; side++)
		longest_ns = fmax(longest_ns, comparison->sides[side].figures[FIGURE_DURATION].mean);
	return comparison->share_min * longest_ns;
}
