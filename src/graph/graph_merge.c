/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Algorithm 2 of DepGraph along each way: who waits for a lock for which somebody of the same name waits who waits for
 * it, too, is one node with that one. What is at the bottom of the queue stands right below the first wait for it.
 *
 *	worker-*                        worker-*
 *	`- lock                         `- lock
 *	   `- worker-*                     `- worker-*
 *	      |- running                      |- running, of both
 *	      `- lock                         `- file write
 *	         `- worker-*
 *	            |- running
 *	            `- file write
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_internal.h"

struct merge {
	const struct graph *from;
	const struct graph_options *options;
	struct graph_node *nodes; /* ns: of the node alone, at first */
	uint64_t *keys;           /* what they are */
	size_t count;
	size_t *places;         /* of the nodes of from */
	struct table *children; /* nodes plus 1, by parent and what they are */
};

/* The wait of that key above in which the same thread is, or one of the same name; NONE. */
static size_t find_above(const struct merge *merge, size_t parent, uint64_t key)
{
	const struct graph_node *nodes = merge->nodes;

	for (size_t at = nodes[parent].parent; at != NONE && nodes[at].parent != NONE; at = nodes[at].parent)
		if (merge->keys[at] == key && merge->keys[nodes[at].parent] == merge->keys[parent])
			return at;
	return NONE;
}

static size_t new_node(struct merge *merge, size_t parent, const struct graph_node *like, uint64_t key)
{
	struct graph_node *node = &merge->nodes[merge->count];

	*node = *like;
	node->ns = node->count = node->max_ns = 0;
	node->is_cycle = node->is_cut = false;
	node->parent = parent;
	merge->keys[merge->count] = key;
	return merge->count++;
}

static size_t get_node(struct merge *merge, size_t parent, const struct graph_node *like, uint64_t key)
{
	uint64_t place_key = hash_u64(key + hash_u64(parent));
	size_t at = (uintptr_t)table_find(merge->children, place_key);

	if (at)
		return at - 1;
	at = new_node(merge, parent, like, key);
	table_put(merge->children, place_key, (void *)(uintptr_t)(at + 1));
	return at;
}

/* Of its time that which no node below has. */
static uint64_t own_ns(const struct graph *graph, size_t at)
{
	uint64_t below_ns = 0;

	for (size_t i = graph->nodes[at].first; i != NONE; i = graph->nodes[i].next)
		below_ns += graph->nodes[i].ns;
	return below_ns < graph->nodes[at].ns ? graph->nodes[at].ns - below_ns : 0;
}

static void add(struct merge *merge, size_t at)
{
	const struct graph_node *node = &merge->from->nodes[at];
	size_t parent = node->parent == NONE ? NONE : merge->places[node->parent];
	uint64_t key = graph_node_key(merge->options, NONE, node);
	bool is_context = node->kind == GRAPH_WAIT && parent != NONE && merge->nodes[parent].kind == GRAPH_THREAD;
	size_t above = is_context ? find_above(merge, parent, key) : NONE;
	size_t place = above == NONE ? get_node(merge, parent, node, key) : above;
	struct graph_node *to = &merge->nodes[place];

	merge->places[at] = place;
	to->ns += own_ns(merge->from, at);
	to->is_cycle |= node->is_cycle;
	to->is_cut |= node->is_cut;
	if (node->thread_count > to->thread_count)
		to->thread_count = node->thread_count;
	/* Who is further down a queue waits at the same time. */
	if (above != NONE)
		return;
	to->count += node->count;
	if (node->max_ns > to->max_ns)
		to->max_ns = node->max_ns;
}

static void link_to_parent(struct graph_node *nodes, size_t at)
{
	struct graph_node *node = &nodes[at], *parent;

	node->first = node->last = node->next = NONE;
	if (node->parent == NONE)
		return;
	parent = &nodes[node->parent];
	if (parent->last == NONE)
		parent->first = at;
	else
		nodes[parent->last].next = at;
	parent->last = at;
}

/* Nodes all of whose time was that of a wait above are left out. */
static void put(struct merge *merge, struct graph *graph)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->count; i++) {
		struct graph_node *node = &graph->nodes[count];

		merge->places[i] = count;
		if (i && !merge->nodes[i].ns)
			continue;
		*node = merge->nodes[i];
		if (node->max_ns > node->ns)
			node->max_ns = node->ns;
		if (node->parent != NONE)
			node->parent = merge->places[node->parent];
		link_to_parent(graph->nodes, count++);
	}
	graph->count = count;
}

void graph_merge(struct graph *graph, const struct graph_options *options)
{
	struct merge merge = {
		.from = graph,
		.options = options,
		.nodes = xcalloc(graph->count + 1, sizeof(*merge.nodes)),
		.keys = xcalloc(graph->count + 1, sizeof(*merge.keys)),
		.places = xcalloc(graph->count + 1, sizeof(*merge.places)),
		.children = table_new(),
	};

	for (size_t i = 0; i < graph->count; i++)
		add(&merge, i);
	/* A parent comes before its children. */
	for (size_t i = merge.count; i-- > 1;)
		merge.nodes[merge.nodes[i].parent].ns += merge.nodes[i].ns;
	put(&merge, graph);
	table_free(merge.children);
	free(merge.places);
	free(merge.keys);
	free(merge.nodes);
}
