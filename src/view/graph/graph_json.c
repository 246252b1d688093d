/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "graph/longest.h"
#include "session/syscalls.h"
#include "view/graph/graph_text.h"
#include "view/json/json_parts.h"

static void put_wait(struct json *json, const struct graph_wait *wait)
{
	json_put_string(json, "cause", wait_cause_name(wait->cause));
	json_put_string(json, "syscall", syscall_name(wait->syscall));
}

/* parent: its place among those that are put. */
static void put_node(struct json *json, struct graph_labels *labels, const struct graph_node *node, size_t parent)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_key(json, "parent");
	if (parent == SIZE_MAX)
		json_null(json);
	else
		json_uint(json, parent);
	json_put_string(json, "kind", graph_kind_name(node->kind));
	json_put_string(json, "label", graph_label(labels, node));
	json_put_uint(json, "ns", node->ns);
	json_put_uint(json, "count", node->count);
	json_put_uint(json, "max_ns", node->max_ns);
	if (node->kind == GRAPH_THREAD || node->kind == GRAPH_OTHER) {
		json_put_uint(json, node->kind == GRAPH_THREAD ? "thread" : "tid", node->id);
	} else if (node->kind == GRAPH_WAIT) {
		put_wait(json, &node->wait);
	}
	json_key(json, "is_cycle");
	json_bool(json, node->is_cycle);
	json_key(json, "is_cut");
	json_bool(json, node->is_cut);
	json_end_object(json);
}

static void begin(struct json *json, struct text *out, const struct graph *graph)
{
	json_init(json, out);
	json_begin_object(json);
	json_put_uint(json, "from_ns", graph->from_ns);
	json_put_uint(json, "to_ns", graph->to_ns);
	json_key(json, "nodes");
	json_begin_array(json);
}

void graph_put_json(struct text *out, const struct graph *graph, struct graph_labels *labels)
{
	struct json json;

	begin(&json, out, graph);
	for (size_t i = 0; i < graph->count; i++)
		put_node(&json, labels, &graph->nodes[i], graph->nodes[i].parent);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
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

void graph_put_json_longest(struct text *out, const struct graph *graph, struct graph_labels *labels, size_t count_max)
{
	size_t count, *places = places_of_longest(graph, count_max, &count);
	struct json json;

	begin(&json, out, graph);
	for (size_t i = 0; i < graph->count; i++)
		if (places[i] != SIZE_MAX)
			put_node(&json, labels, &graph->nodes[i],
				 graph->nodes[i].parent == SIZE_MAX ? SIZE_MAX : places[graph->nodes[i].parent]);
	json_end_array(&json);
	json_put_uint(&json, "left_out", graph->count - count);
	json_end_object(&json);
	json_fini(&json);
	free(places);
}
