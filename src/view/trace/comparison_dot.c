/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "base/text.h"
#include "base/whole.h"
#include "view/graph/dot.h"
#include "view/trace/comparison_view.h"

static void put_line(struct text *out, const struct graph_set_node *node, unsigned int boldness)
{
	static const double widths[BOLDNESS_MAX + 1] = { 1, 1, 2, 3.5, 5, 7 };
	const char *style = boldness ? "solid" : node->ns[FIRST_SIDE].count ? "dashed" : "dotted";

	text_printf(out, "style=%s penwidth=%.1f", style, widths[boldness]);
}

static void put_edge(struct text *out, const struct comparison_view *view, size_t at)
{
	const struct graph_set_node *node = &view->comparison->set->nodes[at];
	struct difference difference = comparison_of_node(view->comparison, at);

	text_printf(out, "\tn%zu -> n%zu [", node->parent, at);
	put_line(out, node, difference.boldness);
	text_put(out, " label=\"");
	text_put_duration(out, whole(difference.of[FIRST_SIDE].mean + 0.5));
	text_put(out, " / ");
	text_put_duration(out, whole(difference.of[SECOND_SIDE].mean + 0.5));
	if (!isnan(difference.chance) && isfinite(difference.effect))
		text_printf(out, "\\nd %.2g, p %.2g", difference.effect, difference.chance);
	text_put(out, "\"];\n");
}

void comparison_put_dot(struct text *out, const struct comparison_view *view)
{
	const struct graph_set *set = view->comparison->set;
	double least_ns = comparison_least_ns(view->comparison);

	dot_begin(out);
	for (size_t i = 0; i < set->count; i++) {
		const struct graph_set_node *node = &set->nodes[i];
		double longest_ns =
			fmax(graph_set_ns(set, node, FIRST_SIDE).mean, graph_set_ns(set, node, SECOND_SIDE).mean);

		/* Who is part of it has a parent that is: its mean is no less. */
		if (i && longest_ns < least_ns)
			continue;
		text_printf(out, "\tn%zu [shape=%s label=", i, dot_shape(node->kind));
		dot_put_quoted(out, node->label);
		text_put(out, "];\n");
		if (node->parent != SIZE_MAX)
			put_edge(out, view, i);
	}
	text_put(out, "}\n");
}
