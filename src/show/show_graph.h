/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A graph in all forms that were asked for. */
#pragma once

struct graph;
struct graph_labels;
struct settings;

/* words: come before the graph in the text; NULL: none. 0, or a negative errno after a message. */
int show_graph(const struct settings *settings, const struct graph *graph, struct graph_labels *labels,
	       const char *words);
