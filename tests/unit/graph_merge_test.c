/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Equal contexts that are one: random trees, against a list of all ways down with the moments that went them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/graph_internal.h"

enum { SEEDS = 3000, NODES_MAX = 300, DEPTH_MAX = 64, NAMES = 3 };

static struct {
	uint32_t seed, random;
	struct graph graph;
	struct way {
		uint64_t steps[DEPTH_MAX]; /* what the nodes are, from the root on */
		size_t length;
		uint64_t ns; /* of the last one alone */
	} ways[NODES_MAX];
	size_t way_count;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

/* Threads of one name are one, whatever their number. */
static uint64_t key_of(void *data, const struct graph_node *node)
{
	(void)data;
	return node->kind == GRAPH_WAIT ? node->wait.syscall : node->kind == GRAPH_THREAD ? node->id % NAMES : node->id;
}

static uint64_t step_of(const struct graph_node *node)
{
	return (uint64_t)node->kind << 32 | key_of(NULL, node);
}

static const struct graph_options options = { .key_of = key_of };

/* --- A tree ----------------------------------------------------------------------------------- */

static size_t find_child(size_t parent, const struct graph_node *like)
{
	for (size_t i = w.graph.nodes[parent].first; i != NONE; i = w.graph.nodes[i].next)
		if (step_of(&w.graph.nodes[i]) == step_of(like))
			return i;
	return NONE;
}

static size_t add(size_t parent, struct graph_node node)
{
	struct graph_node *nodes = w.graph.nodes;
	size_t at = w.graph.count;

	node.parent = parent;
	node.first = node.last = node.next = NONE;
	node.count = 1 + pick(3);
	nodes[at] = node;
	w.graph.count++;
	if (parent == NONE)
		return at;
	if (nodes[parent].last == NONE)
		nodes[parent].first = at;
	else
		nodes[nodes[parent].last].next = at;
	nodes[parent].last = at;
	return at;
}

/* Below a thread what it does, below a wait who ended it. */
static void add_any(void)
{
	size_t parent = pick(w.graph.count);
	struct graph_node node = { .kind = GRAPH_THREAD, .id = 1 + pick(2 * NAMES) };

	if (w.graph.nodes[parent].kind == GRAPH_RUNNING)
		return;
	if (w.graph.nodes[parent].kind == GRAPH_THREAD) {
		node.kind = pick(3) ? GRAPH_WAIT : GRAPH_RUNNING;
		node.id = 0;
		node.wait.syscall = pick(2);
	}
	if (find_child(parent, &node) == NONE)
		add(parent, node);
}

/* Moments at the bottom, and some at nodes that are cut. */
static void make_tree(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.seed = w.random = seed;
	w.graph.nodes = xcalloc(NODES_MAX, sizeof(*w.graph.nodes));
	add(NONE, (struct graph_node){ .kind = GRAPH_THREAD, .id = 1 });
	for (uint32_t tries = pick(2 * NODES_MAX); tries && w.graph.count < NODES_MAX; tries--)
		add_any();
	for (size_t i = w.graph.count; i-- > 0;) {
		struct graph_node *node = &w.graph.nodes[i];

		if (node->first == NONE || !pick(4))
			node->ns += 1 + pick(1000);
		node->max_ns = 1 + pick(node->ns);
		if (i)
			w.graph.nodes[node->parent].ns += node->ns;
	}
}

/* --- The same, naively ------------------------------------------------------------------------ */

/* A thread in a wait in which it is already: all between is left out. */
static void go_down(struct way *way, uint64_t step)
{
	uint64_t thread = way->length ? way->steps[way->length - 1] : 0;

	if (step >> 32 == GRAPH_WAIT)
		for (size_t i = 1; i < way->length; i++)
			if (way->steps[i] == step && way->steps[i - 1] == thread) {
				way->length = i + 1;
				return;
			}
	way->steps[way->length++] = step;
}

static struct way way_to(const struct graph *graph, size_t at)
{
	size_t nodes[DEPTH_MAX], count = 0;
	struct way way = { .length = 0 };

	for (; at != NONE; at = graph->nodes[at].parent) {
		CHECK_THAT(count, <, DEPTH_MAX);
		nodes[count++] = at;
	}
	while (count)
		go_down(&way, step_of(&graph->nodes[nodes[--count]]));
	return way;
}

static struct way *find_way(const struct way *way)
{
	for (size_t i = 0; i < w.way_count; i++)
		if (w.ways[i].length == way->length &&
		    !memcmp(w.ways[i].steps, way->steps, way->length * sizeof(*way->steps)))
			return &w.ways[i];
	return NULL;
}

static uint64_t own_ns(const struct graph *graph, size_t at)
{
	uint64_t ns = graph->nodes[at].ns;

	for (size_t i = graph->nodes[at].first; i != NONE; i = graph->nodes[i].next)
		ns -= graph->nodes[i].ns;
	return ns;
}

static void note_all(void)
{
	for (size_t i = 0; i < w.graph.count; i++) {
		struct way way = way_to(&w.graph, i), *known = find_way(&way);

		if (!known)
			known = memcpy(&w.ways[w.way_count++], &way, sizeof(way));
		known->ns += own_ns(&w.graph, i);
	}
}

/* --- Comparison ------------------------------------------------------------------------------- */

static void check_merged(uint64_t all_ns)
{
	CHECK_EQUAL(w.graph.nodes[0].ns, all_ns);
	for (size_t i = 0; i < w.graph.count; i++) {
		const struct graph_node *node = &w.graph.nodes[i];
		struct way way = { .length = 0 }, *known;
		size_t depth = 0;

		for (size_t at = i; at != NONE; at = w.graph.nodes[at].parent)
			depth++;
		way = way_to(&w.graph, i);
		/* None is there twice. */
		CHECK_EQUAL(way.length, depth);
		known = find_way(&way);
		if (!known || known->ns != own_ns(&w.graph, i))
			fail_msg("seed %u: node %zu", w.seed, i);
		known->ns = 0;
		CHECK(!i || node->parent < i);
		CHECK_THAT(node->max_ns, <=, node->ns);
	}
	for (size_t i = 0; i < w.way_count; i++)
		if (w.ways[i].ns)
			fail_msg("seed %u: way %zu is missing", w.seed, i);
}

TEST(a_thread_in_a_wait_is_there_once_on_each_way_and_no_time_is_lost)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t all_ns;

		make_tree(seed);
		all_ns = w.graph.nodes[0].ns;
		note_all();
		graph_merge(&w.graph, &options);
		check_merged(all_ns);
		graph_fini(&w.graph);
	}
}
