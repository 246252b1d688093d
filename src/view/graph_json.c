/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "session/syscalls.h"
#include "view/graph_text.h"

static void put_wait(struct json *json, const struct graph_wait *wait)
{
	json_key(json, "cause");
	json_string(json, wait_cause_name(wait->cause));
	json_key(json, "syscall");
	json_string(json, syscall_name(wait->syscall));
}

static void put_node(struct json *json, struct graph_labels *labels, const struct graph_node *node)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_key(json, "parent");
	if (node->parent == SIZE_MAX)
		json_null(json);
	else
		json_uint(json, node->parent);
	json_key(json, "kind");
	json_string(json, graph_kind_name(node->kind));
	json_key(json, "label");
	json_string(json, graph_label(labels, node));
	json_key(json, "ns");
	json_uint(json, node->ns);
	json_key(json, "count");
	json_uint(json, node->count);
	json_key(json, "max_ns");
	json_uint(json, node->max_ns);
	if (node->kind == GRAPH_THREAD || node->kind == GRAPH_OTHER) {
		json_key(json, node->kind == GRAPH_THREAD ? "thread" : "tid");
		json_uint(json, node->id);
	} else if (node->kind == GRAPH_WAIT) {
		put_wait(json, &node->wait);
	}
	json_key(json, "is_cycle");
	json_bool(json, node->is_cycle);
	json_key(json, "is_cut");
	json_bool(json, node->is_cut);
	json_end_object(json);
}

void graph_put_json(struct text *out, const struct graph *graph, struct graph_labels *labels)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_key(&json, "from_ns");
	json_uint(&json, graph->from_ns);
	json_key(&json, "to_ns");
	json_uint(&json, graph->to_ns);
	json_key(&json, "nodes");
	json_begin_array(&json);
	for (size_t i = 0; i < graph->count; i++)
		put_node(&json, labels, &graph->nodes[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
}
