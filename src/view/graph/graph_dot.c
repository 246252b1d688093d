/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "view/graph/dot.h"
#include "view/graph/graph_text.h"

static void put_edge(struct text *out, const struct graph *graph, size_t at)
{
	const struct graph_node *node = &graph->nodes[at];
	double share = graph->nodes[0].ns ? (double)node->ns / graph->nodes[0].ns : 0;

	text_printf(out, "\tn%zu -> n%zu [penwidth=%.1f label=\"", node->parent, at, 1 + 5 * share);
	text_put_duration(out, node->ns);
	text_printf(out, " (%.1f %%)\\n%llu times\"];\n", 100 * share, (unsigned long long)node->count);
}

void graph_put_dot(struct text *out, const struct graph *graph, struct graph_labels *labels, double share_min)
{
	uint64_t least_ns = graph->nodes[0].ns * share_min;

	dot_begin(out);
	for (size_t i = 0; i < graph->count; i++) {
		const struct graph_node *node = &graph->nodes[i];

		if (node->ns < least_ns)
			continue;
		text_printf(out, "\tn%zu [shape=%s label=", i, dot_shape(node->kind));
		dot_put_quoted(out, graph_label(labels, node));
		text_put(out, "];\n");
		/* Who is part of the graph has a parent that is: it has no less time. */
		if (node->parent != SIZE_MAX)
			put_edge(out, graph, i);
	}
	text_put(out, "}\n");
}
