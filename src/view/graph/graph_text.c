/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/graph/graph_text.h"

#include "base/text.h"
#include "graph/graph.h"
#include "graph/graph_label.h"

enum { INDENTS_MAX = 64 };

#define NONE SIZE_MAX

struct tree {
	struct text *out;
	const struct graph *graph;
	struct graph_labels *labels;
	uint64_t least_ns;
	bool has_unicode;
	bool is_last[INDENTS_MAX]; /* of its parent's children, the one above at a depth */
};

static double percent(const struct graph *graph, uint64_t ns)
{
	return graph->nodes[0].ns ? 100.0 * ns / graph->nodes[0].ns : 0;
}

static void put_share(struct tree *tree, uint64_t ns)
{
	struct text duration = { 0 };

	text_put_duration(&duration, ns);
	text_printf(tree->out, "%6.1f %%  %9s  ", percent(tree->graph, ns), duration.bytes);
	text_fini(&duration);
}

static void put_branches(struct tree *tree, unsigned int depth, bool is_last)
{
	for (unsigned int i = 1; i < depth && i < INDENTS_MAX; i++)
		text_put(tree->out, tree->is_last[i] ? "   " : tree->has_unicode ? "│  " : "|  ");
	if (!depth)
		return;
	if (tree->has_unicode)
		text_put(tree->out, is_last ? "└─ " : "├─ ");
	else
		text_put(tree->out, is_last ? "`- " : "|- ");
}

static void put_line(struct tree *tree, const struct graph_node *node, unsigned int depth, bool is_last)
{
	put_share(tree, node->ns);
	put_branches(tree, depth, is_last);
	text_put_escaped(tree->out, graph_label(tree->labels, node));
	if (node->kind == GRAPH_WAIT) {
		text_put(tree->out, ", ");
		text_put_count(tree->out, node->count);
		text_put(tree->out, node->count == 1 ? " wait" : " waits");
		if (node->count > 1) {
			text_put(tree->out, ", max ");
			text_put_duration(tree->out, node->max_ns);
		}
	}
	if (node->is_cycle)
		text_put(tree->out, " (see above)");
	else if (node->is_cut)
		text_put(tree->out, " …");
	text_put(tree->out, "\n");
}

/* The other children, each too small to be shown. */
static void put_rest(struct tree *tree, size_t first, unsigned int depth)
{
	uint64_t ns = 0, count = 0;

	for (size_t i = first; i != NONE; i = tree->graph->nodes[i].next) {
		ns += tree->graph->nodes[i].ns;
		count++;
	}
	put_share(tree, ns);
	put_branches(tree, depth, true);
	text_put_count(tree->out, count);
	text_printf(tree->out, " more\n");
}

static void put_node(struct tree *tree, size_t at, unsigned int depth, bool is_last)
{
	const struct graph_node *node = &tree->graph->nodes[at];
	size_t child;

	put_line(tree, node, depth, is_last);
	if (depth < INDENTS_MAX)
		tree->is_last[depth] = is_last;
	for (child = node->first; child != NONE; child = tree->graph->nodes[child].next) {
		if (tree->graph->nodes[child].ns < tree->least_ns)
			break;
		put_node(tree, child, depth + 1, tree->graph->nodes[child].next == NONE);
	}
	if (child != NONE)
		put_rest(tree, child, depth + 1);
}

void graph_put_text(struct text *out, const struct graph *graph, struct graph_labels *labels, double share_min,
		    bool has_unicode)
{
	struct tree tree = {
		.out = out,
		.graph = graph,
		.labels = labels,
		.has_unicode = has_unicode,
		.least_ns = graph->nodes[0].ns * share_min,
	};

	put_node(&tree, 0, 0, true);
}
