/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of a graph while it is made, and the stretches that wait to be examined below them. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_internal.h"

enum { NODES_MAX = 1 << 20, STRETCHES_MAX = 1 << 22 };

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value + 0x9e3779b97f4a7c15ull));
}

uint64_t graph_node_key(const struct graph_options *options, size_t parent, const struct graph_node *node)
{
	const struct graph_wait *wait = &node->wait;
	uint64_t key = mix(mix(parent, node->kind), node->id);

	if (options->key_of)
		return mix(mix(parent, node->kind), options->key_of(options->key_data, node));
	key = mix(mix(key, wait->object), wait->stack);
	return mix(key,
		   (uint64_t)wait->syscall << 32 | (uint32_t)wait->operation << 16 | wait->cause << 8 | wait->state);
}

static size_t new_node(struct graph_builder *b, size_t parent, const struct graph_node *node)
{
	struct graph *graph = b->graph;

	if (graph->count == b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : 64;
		graph->nodes = xrealloc(graph->nodes, b->capacity, sizeof(*graph->nodes));
		b->pending = xrealloc(b->pending, b->capacity, sizeof(*b->pending));
	}
	graph->nodes[graph->count] = *node;
	b->pending[graph->count] = (struct pending){ NO_STRETCH, NO_STRETCH };
	graph->nodes[graph->count].parent = parent;
	graph->nodes[graph->count].first = graph->nodes[graph->count].last = NONE;
	graph->nodes[graph->count].next = NONE;
	if (parent != NONE) {
		if (graph->nodes[parent].last == NONE)
			graph->nodes[parent].first = graph->count;
		else
			graph->nodes[graph->nodes[parent].last].next = graph->count;
		graph->nodes[parent].last = graph->count;
	}
	return graph->count++;
}

/* The paper's addToGraph: an edge that is there already gets longer. */
size_t graph_add(struct graph_builder *b, size_t parent, enum graph_kind kind, uint32_t id,
		 const struct graph_wait *wait, uint64_t ns)
{
	struct graph_node new = { .kind = kind, .id = id }, *node;
	uint64_t key;
	size_t at;

	if (wait)
		new.wait = *wait;
	key = graph_node_key(b->options, parent, &new);
	at = (uintptr_t)table_find(b->children, key);
	if (!at) {
		/* Beyond that, what is new is part of what is there. */
		if (b->graph->count >= NODES_MAX && parent != NONE)
			return parent;
		at = new_node(b, parent, &new) + 1;
		table_put(b->children, key, (void *)(uintptr_t)at);
	}
	node = &b->graph->nodes[at - 1];
	if (!node->thread_count || node->id != id)
		node->thread_count++;
	node->id = id;
	node->ns += ns;
	node->count++;
	if (ns > node->max_ns)
		node->max_ns = ns;
	return at - 1;
}

void graph_add_stretch(struct graph_builder *b, size_t node, const struct stretch *part)
{
	struct pending *pending = &b->pending[node];
	uint32_t number = b->stretch_count;

	if (b->stretch_count == STRETCHES_MAX) {
		b->graph->nodes[node].is_cut = true;
		return;
	}
	ARRAY_GROW(b->stretches, b->stretch_count, b->stretch_capacity, 1024);
	b->stretches[b->stretch_count] = *part;
	b->stretches[b->stretch_count++].next = NO_STRETCH;
	if (pending->last == NO_STRETCH)
		pending->first = number;
	else
		b->stretches[pending->last].next = number;
	pending->last = number;
}

/* Who is above waits all that time: to look at him again would lead nowhere. */
static bool is_above(const struct graph_builder *b, const struct stretch *part)
{
	for (uint32_t at = part->above; at != NO_STRETCH; at = b->stretches[at].above)
		if (b->stretches[at].thread == part->thread)
			return true;
	return false;
}

void graph_add_thread(struct graph_builder *b, size_t parent, const struct stretch *part)
{
	size_t at = graph_add(b, parent, GRAPH_THREAD, part->thread, NULL, part->ns);

	if (at == parent)
		return;
	if (is_above(b, part))
		b->graph->nodes[at].is_cycle = true;
	else
		graph_add_stretch(b, at, part);
}

static uint64_t counted_ns(const struct stretch *stretch, uint64_t until_ns)
{
	uint64_t passed_ns = until_ns - stretch->begin_ns, length_ns = stretch->end_ns - stretch->begin_ns;

	return stretch->ns == length_ns ? passed_ns : (unsigned __int128)passed_ns * stretch->ns / length_ns;
}

uint64_t graph_part_ns(const struct graph_builder *b, uint32_t stretch, uint64_t begin_ns, uint64_t end_ns)
{
	return counted_ns(&b->stretches[stretch], end_ns) - counted_ns(&b->stretches[stretch], begin_ns);
}
