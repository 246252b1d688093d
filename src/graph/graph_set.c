/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"

enum { NODES_MAX = 1 << 18 };

#define NONE SIZE_MAX

struct graph_set *graph_set_new(bool is_of_threads)
{
	struct graph_set *set = xcalloc(1, sizeof(*set));

	set->is_of_threads = is_of_threads;
	set->arena = arena_new();
	set->children = table_new();
	return set;
}

void graph_set_free(struct graph_set *set)
{
	if (!set)
		return;
	table_free(set->children);
	arena_free(set->arena);
	free(set->nodes);
	free(set);
}

static size_t new_node(struct graph_set *set, size_t parent, enum graph_kind kind, const char *label)
{
	struct graph_set_node *node;

	ARRAY_GROW(set->nodes, set->count, set->capacity, 64);
	node = &set->nodes[set->count];
	*node = (struct graph_set_node){
		.kind = kind,
		.label = arena_strdup(set->arena, label),
		.parent = parent,
		.first = NONE,
		.next = NONE,
	};
	if (parent != NONE) {
		node->next = set->nodes[parent].first;
		set->nodes[parent].first = set->count;
	}
	return set->count++;
}

/* Beyond a bound, what is new is part of what is above it. */
static size_t get_node(struct graph_set *set, size_t parent, enum graph_kind kind, const char *label)
{
	uint64_t key = hash_string(hash_u64(parent * GRAPH_KINDS + kind), label);
	size_t at = (uintptr_t)table_find(set->children, key);

	if (at)
		return at - 1;
	if (set->count >= NODES_MAX)
		return NONE;
	at = new_node(set, parent, kind, label);
	table_put(set->children, key, (void *)(uintptr_t)(at + 1));
	return at;
}

/* Graphs have one root, whatever it is called. */
static size_t get_root(struct graph_set *set, const struct graph_node *root, struct graph_labels *labels)
{
	const struct graph_node threads = { .kind = GRAPH_THREADS };
	const char *label = graph_label(labels, set->is_of_threads ? &threads : root);

	if (!set->count)
		new_node(set, NONE, set->is_of_threads ? GRAPH_THREADS : root->kind, label);
	else if (strcmp(set->nodes[0].label, label))
		set->nodes[0].label = "several";
	return 0;
}

static void take(struct graph_set *set, size_t at, unsigned int side, const struct graph_node *node, double scale)
{
	if (at == NONE)
		return;
	set->nodes[at].pending_ns += node->ns * scale;
	set->nodes[at].count[side] += node->count * scale;
	set->nodes[at].is_pending = true;
}

static void settle(struct graph_set *set, size_t at, unsigned int side)
{
	struct graph_set_node *node = at == NONE ? NULL : &set->nodes[at];

	if (!node || !node->is_pending)
		return;
	sample_add(&node->ns[side], node->pending_ns);
	node->pending_ns = 0;
	node->is_pending = false;
}

void graph_set_add(struct graph_set *set, unsigned int side, const struct graph *graph, struct graph_labels *labels,
		   double scale)
{
	size_t *places = xcalloc(graph->count + 1, sizeof(*places));
	size_t root = get_root(set, &graph->nodes[0], labels);

	set->graph_counts[side]++;
	for (size_t i = 0; i < graph->count; i++) {
		const struct graph_node *node = &graph->nodes[i];
		size_t above = node->parent == NONE ? root : places[node->parent];
		bool is_root = !i && (!set->is_of_threads || node->kind == GRAPH_THREADS);

		places[i] = is_root         ? root
			    : above == NONE ? NONE
					    : get_node(set, above, node->kind, graph_label(labels, node));
		take(set, places[i], side, node, scale);
	}
	if (places[0] != root)
		take(set, root, side, &graph->nodes[0], scale);
	settle(set, root, side);
	for (size_t i = 0; i < graph->count; i++)
		settle(set, places[i], side);
	free(places);
}

struct sample graph_set_ns(const struct graph_set *set, const struct graph_set_node *node, unsigned int side)
{
	return sample_with_zeros(node->ns[side], set->graph_counts[side]);
}
