/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph_internal.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "states/states.h"

enum { DEPTH_MAX = 16 };

static unsigned int depth_of(const struct graph_builder *b, size_t node)
{
	unsigned int depth = 0;

	for (; node != NONE; node = b->graph->nodes[node].parent)
		depth += b->graph->nodes[node].kind == GRAPH_THREAD;
	return depth;
}

/* All of the node's time is known. */
static bool is_worth_a_look(struct graph_builder *b, size_t node)
{
	unsigned int depth_max = b->options->depth_max ? b->options->depth_max : DEPTH_MAX;
	bool is_worth = b->graph->nodes[node].ns >= b->least_ns && depth_of(b, node) <= depth_max;

	if (!is_worth)
		b->graph->nodes[node].is_cut = true;
	return is_worth;
}

/* What is below nodes is made behind all of them, and examined when they have been. */
static void look_at_all(struct graph_builder *b)
{
	for (size_t first = 0, next; first < b->graph->count; first = next) {
		next = b->graph->count;
		graph_look_at(b, first, next - first, is_worth_a_look);
	}
}

/* --- What others call ----------------------------------------------------------------------- */

static int by_time(const void *a, const void *b, void *data)
{
	const struct graph_node *nodes = data;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (nodes[x].ns != nodes[y].ns)
		return nodes[x].ns < nodes[y].ns ? 1 : -1;
	return x < y ? -1 : 1;
}

static void sort_children(struct graph *graph, size_t parent, size_t *list)
{
	struct graph_node *nodes = graph->nodes;
	size_t count = 0;

	for (size_t i = nodes[parent].first; i != NONE; i = nodes[i].next)
		list[count++] = i;
	if (!count)
		return;
	qsort_r(list, count, sizeof(*list), by_time, nodes);
	nodes[parent].first = list[0];
	nodes[parent].last = list[count - 1];
	for (size_t i = 0; i < count; i++)
		nodes[list[i]].next = i + 1 < count ? list[i + 1] : NONE;
}

static void sort_all(struct graph *graph)
{
	size_t *list = xcalloc(graph->count + 1, sizeof(*list));

	for (size_t i = 0; i < graph->count; i++)
		sort_children(graph, i, list);
	free(list);
}

/* Of the time asked for, that in which the thread lived. */
static uint64_t lived_ns(struct states *states, const struct graph_part *part)
{
	uint64_t ns[SHARES] = { 0 }, sum_ns = 0;

	states_add_shares(states, part->thread, part->from_ns, part->to_ns, ns);
	for (unsigned int i = 0; i < SHARES; i++)
		sum_ns += ns[i];
	return sum_ns;
}

static void add_part(struct graph_builder *b, size_t root, const struct graph_part *part)
{
	size_t node = graph_add(b, root, GRAPH_THREAD, part->thread, NULL, lived_ns(b->states, part));

	graph_add_stretch(b, node,
			  &(struct stretch){
				  .begin_ns = part->from_ns,
				  .end_ns = part->to_ns,
				  .ns = part->to_ns - part->from_ns,
				  .thread = part->thread,
				  .above = NO_STRETCH,
			  });
}

static void make(struct states *states, const struct graph_part *parts, size_t count, bool is_of_one,
		 const struct graph_options *options, struct graph *out)
{
	struct graph_builder b = {
		.states = states,
		.graph = out,
		.children = table_new(),
		.options = options,
	};
	uint64_t root_ns = 0;
	size_t root = NONE;

	*out = (struct graph){ .from_ns = options->from_ns, .to_ns = options->to_ns };
	for (size_t i = 0; i < count; i++)
		root_ns += lived_ns(states, &parts[i]);
	if (!is_of_one)
		root = graph_add(&b, NONE, GRAPH_THREADS, 0, NULL, root_ns);
	for (size_t i = 0; i < count; i++)
		add_part(&b, root, &parts[i]);
	b.least_ns = root_ns * options->share_min;
	look_at_all(&b);
	if (options->merges_contexts)
		graph_merge(out, options);
	sort_all(out);
	table_free(b.children);
	free(b.stretches);
	free(b.pending);
}

void graph_of_threads(struct states *states, const uint32_t *threads, size_t count, const struct graph_options *options,
		      struct graph *out)
{
	struct graph_part *parts = xcalloc(count + 1, sizeof(*parts));

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct graph_part){ threads[i], options->from_ns, options->to_ns };
	make(states, parts, count, count == 1, options, out);
	free(parts);
}

void graph_of_parts(struct states *states, const struct graph_part *parts, size_t count,
		    const struct graph_options *options, struct graph *out)
{
	make(states, parts, count, false, options, out);
}

void graph_fini(struct graph *graph)
{
	free(graph->nodes);
	*graph = (struct graph){ 0 };
}
