/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph_choice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "report/wait_choice.h"

static bool is_chosen(struct graph_labels *labels, const struct graph_node *node, const struct wait_choice *choice)
{
	if (node->kind == GRAPH_CPU)
		return !choice->object_count && wait_choice_has_cause(choice, CAUSE_PREEMPTED);
	if (node->kind == GRAPH_CPU_LIMIT)
		return !choice->object_count && wait_choice_has_cause(choice, CAUSE_THROTTLED);
	return node->kind == GRAPH_WAIT && wait_choice_has_cause(choice, node->wait.cause) &&
	       (!choice->object_count || wait_choice_has_object(choice, graph_wait_object(labels, &node->wait)));
}

/* Which nodes stay: a parent comes before its children. */
static bool *choose_nodes(const struct graph *graph, struct graph_labels *labels, const struct wait_choice *choice)
{
	bool *stays = xcalloc(graph->count, sizeof(*stays));

	for (size_t i = 1; i < graph->count; i++)
		stays[i] = stays[graph->nodes[i].parent] || is_chosen(labels, &graph->nodes[i], choice);
	for (size_t i = graph->count; i-- > 1;)
		if (stays[i])
			stays[graph->nodes[i].parent] = true;
	stays[0] = true;
	return stays;
}

/* Where it is then, of a node or of the first one behind it with the same parent that stays. */
static size_t place_of(const struct graph *graph, const bool *stays, const size_t *places, size_t node)
{
	while (node != SIZE_MAX && !stays[node])
		node = graph->nodes[node].next;
	return node == SIZE_MAX ? SIZE_MAX : places[node];
}

void graph_choose(struct graph *graph, struct graph_labels *labels, const struct wait_choice *choice)
{
	struct graph_node *nodes = xcalloc(graph->count + 1, sizeof(*nodes));
	size_t *places = xcalloc(graph->count + 1, sizeof(*places)), count = 0;
	bool *stays = graph->count ? choose_nodes(graph, labels, choice) : NULL;

	for (size_t i = 0; i < graph->count; i++)
		if (stays[i])
			places[i] = count++;
	for (size_t i = 0; i < graph->count; i++) {
		struct graph_node *node = &nodes[places[i]];

		if (!stays[i])
			continue;
		*node = graph->nodes[i];
		node->parent = node->parent == SIZE_MAX ? SIZE_MAX : places[node->parent];
		node->first = place_of(graph, stays, places, graph->nodes[i].first);
		node->next = place_of(graph, stays, places, graph->nodes[i].next);
		node->last = SIZE_MAX;
	}
	for (size_t i = 1; i < count; i++)
		if (nodes[i].next == SIZE_MAX)
			nodes[nodes[i].parent].last = i;
	free(graph->nodes);
	free(places);
	free(stays);
	graph->nodes = nodes;
	graph->count = count;
}
