/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "graph/longest.h"
#include "results/results.h"
#include "session/syscalls.h"
#include "view/graph/graph_text.h"
#include "view/json/json_fields.h"

static struct result_graph_node result_of(struct graph_labels *labels, const struct graph_node *node)
{
	return (struct result_graph_node){
		.kind = node->kind,
		.label = graph_label(labels, node),
		.ns = node->ns,
		.count = node->count,
		.max_ns = node->max_ns,
		.is_thread = node->kind == GRAPH_THREAD,
		.thread = node->id,
		.is_other = node->kind == GRAPH_OTHER,
		.tid = node->id,
		.is_wait = node->kind == GRAPH_WAIT,
		.wait = { .cause = node->wait.cause, .syscall = syscall_name(node->wait.syscall) },
		.is_cycle = node->is_cycle,
		.is_cut = node->is_cut,
	};
}

static size_t *places_of_longest(const struct graph *graph, size_t count_max, size_t *kept)
{
	double *ns = xcalloc(graph->count + 1, sizeof(*ns));
	size_t *parents = xcalloc(graph->count + 1, sizeof(*parents)), *places;

	for (size_t i = 0; i < graph->count; i++) {
		ns[i] = graph->nodes[i].ns;
		parents[i] = graph->nodes[i].parent;
	}
	places = longest_places(ns, parents, graph->count, count_max, kept);
	free(ns);
	free(parents);
	return places;
}

void graph_put_json(struct text *out, const struct graph *graph, struct graph_labels *labels, size_t count_max)
{
	struct result_graph result = {
		.from_ns = graph->from_ns,
		.to_ns = graph->to_ns,
		.has_lost = graph->lost_ns,
		.lost_ns = graph->lost_ns,
		.has_left_out = count_max != SIZE_MAX,
	};
	size_t *places = places_of_longest(graph, count_max, &result.node_count);
	struct result_graph_node *nodes = xcalloc(result.node_count + 1, sizeof(*nodes));

	for (size_t i = 0; i < graph->count; i++) {
		size_t parent = graph->nodes[i].parent;

		if (places[i] == SIZE_MAX)
			continue;
		nodes[places[i]] = result_of(labels, &graph->nodes[i]);
		nodes[places[i]].parent = parent == SIZE_MAX ? 0 : places[parent] + 1;
	}
	result.nodes = nodes;
	result.left_out = graph->count - result.node_count;
	json_put_document(out, result_graph_type(), &result);
	free(nodes);
	free(places);
}
