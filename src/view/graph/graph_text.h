/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A graph as text, as JSON and in the language of Graphviz. Nodes with less than share_min of the root's
 * time are shown together.
 *
 * Owns: graphs and critical paths, in all forms.
 * Used by: view/trace, lanes, show, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct graph;
struct graph_labels;
struct text;

/* begin_ns: when the trace began, CLOCK_MONOTONIC. */
void graph_put_text(struct text *out, const struct graph *graph, struct graph_labels *labels, double share_min,
		    bool has_unicode);

/*
 * At most so many nodes, those of most time, and what is above them; how many are left out is said, too. SIZE_MAX: all,
 * and nothing is left out.
 */
void graph_put_json(struct text *out, const struct graph *graph, struct graph_labels *labels, size_t count_max);
void graph_put_dot(struct text *out, const struct graph *graph, struct graph_labels *labels, double share_min);
