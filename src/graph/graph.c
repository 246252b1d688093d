/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/wait_end.h"
#include "states/states.h"
#include "values.h"

enum { DEPTH_MAX = 16, NODES_MAX = 1 << 20, STRETCHES_MAX = 1 << 22 };

#define NONE SIZE_MAX

/* --- Nodes ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value + 0x9e3779b97f4a7c15ull));
}

static uint64_t key_of(const struct graph_builder *b, size_t parent, const struct graph_node *node)
{
	const struct graph_wait *wait = &node->wait;
	uint64_t key = mix(mix(parent, node->kind), node->id);

	if (b->options->key_of)
		return mix(mix(parent, node->kind), b->options->key_of(b->options->key_data, node));
	key = mix(mix(key, wait->object), wait->stack);
	return mix(key,
		   (uint64_t)wait->syscall << 32 | (uint32_t)wait->operation << 16 | wait->cause << 8 | wait->state);
}

static size_t new_node(struct graph_builder *b, size_t parent, const struct graph_node *node)
{
	struct graph *graph = b->graph;

	if (graph->count == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		graph->nodes = xrealloc(graph->nodes, b->room, sizeof(*graph->nodes));
		b->pending = xrealloc(b->pending, b->room, sizeof(*b->pending));
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
	key = key_of(b, parent, &new);
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

static void add_stretch(struct graph_builder *b, size_t node, uint32_t thread, uint32_t above, uint64_t begin_ns,
			uint64_t end_ns)
{
	struct pending *pending = &b->pending[node];
	uint32_t number = b->stretch_count;

	if (b->stretch_count == STRETCHES_MAX) {
		b->graph->nodes[node].is_cut = true;
		return;
	}
	ARRAY_GROW(b->stretches, b->stretch_count, b->stretch_room, 1024);
	b->stretches[b->stretch_count++] = (struct stretch){
		begin_ns, end_ns, thread, above, NO_STRETCH,
	};
	if (pending->last == NO_STRETCH)
		pending->first = number;
	else
		b->stretches[pending->last].next = number;
	pending->last = number;
}

/* --- Algorithm 1 ---------------------------------------------------------------------------- */

/* Who is above waits all that time: to look at him again would lead nowhere. */
static bool is_above(const struct graph_builder *b, uint32_t stretch, uint32_t thread)
{
	for (; stretch != NO_STRETCH; stretch = b->stretches[stretch].above)
		if (b->stretches[stretch].thread == thread)
			return true;
	return false;
}

static void add_wait(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	struct graph_wait wait = graph_wait_of(b->stretches[stretch].thread, state);
	enum graph_kind kind = wait_end_kind(&state->ended);
	uint32_t id = 0;
	size_t at;

	node = graph_add(b, node, GRAPH_WAIT, 0, &wait, end_ns - begin_ns);
	if (kind == GRAPH_THREAD)
		id = state->ended.thread;
	else if (kind == GRAPH_OTHER)
		id = state->ended.tid;
	at = graph_add(b, node, kind, id, NULL, end_ns - begin_ns);
	if (kind == GRAPH_DISK && at != node)
		graph_add_disk_users(b, at, begin_ns, end_ns);
	if (kind != GRAPH_THREAD || at == node)
		return;
	if (is_above(b, stretch, id))
		b->graph->nodes[at].is_cycle = true;
	else
		add_stretch(b, at, id, stretch, begin_ns, end_ns);
}

void graph_add_state(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns - begin_ns;

	switch (state->kind) {
	case STATE_RUNNING:
	case STATE_SPINNING:
		graph_add_running(b, node, state, begin_ns, end_ns);
		break;
	case STATE_RUNNABLE:
		if (state->value.why == READY_THROTTLED) {
			graph_add(b, node, GRAPH_CPU_LIMIT, 0, NULL, ns);
			break;
		}
		node = graph_add(b, node, GRAPH_CPU, 0, NULL, ns);
		graph_add_rivals(b, node, b->stretches[stretch].thread, state, begin_ns, end_ns);
		break;
	case STATE_BLOCKED:
		add_wait(b, node, stretch, state, begin_ns, end_ns);
		break;
	case STATE_UNKNOWN:
		graph_add(b, node, GRAPH_UNTOLD, 0, NULL, ns);
		break;
	}
}

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

/* What is below nodes is made behind all of them, and looked at when they have been. */
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
static uint64_t lived_ns(struct graph_builder *b, uint32_t thread)
{
	uint64_t ns[SHARES] = { 0 }, sum_ns = 0;

	states_add_shares(b->states, thread, b->options->from_ns, b->options->to_ns, ns);
	for (unsigned int i = 0; i < SHARES; i++)
		sum_ns += ns[i];
	return sum_ns;
}

void graph_of_threads(struct states *states, const uint32_t *threads, size_t count, const struct graph_options *options,
		      struct graph *out)
{
	struct graph_builder b = {
		.states = states,
		.graph = out,
		.children = table_new(),
		.options = options,
	};
	uint64_t root_ns = 0;
	size_t root = NONE, node;

	*out = (struct graph){ .from_ns = options->from_ns, .to_ns = options->to_ns };
	for (size_t i = 0; i < count; i++)
		root_ns += lived_ns(&b, threads[i]);
	if (count != 1)
		root = graph_add(&b, NONE, GRAPH_THREADS, 0, NULL, root_ns);
	for (size_t i = 0; i < count; i++) {
		node = graph_add(&b, root, GRAPH_THREAD, threads[i], NULL, lived_ns(&b, threads[i]));
		add_stretch(&b, node, threads[i], NO_STRETCH, options->from_ns, options->to_ns);
	}
	b.least_ns = root_ns * options->share_min;
	look_at_all(&b);
	sort_all(out);
	table_free(b.children);
	free(b.stretches);
	free(b.pending);
}

void graph_fini(struct graph *graph)
{
	free(graph->nodes);
	*graph = (struct graph){ 0 };
}
