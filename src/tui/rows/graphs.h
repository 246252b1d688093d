/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pages of graphs show of a trace: of all its threads or of a chosen one, each alone or those of one name as
 * one. A part is made, by who opened the UI, when a page wants it, and kept until something else is chosen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/critical_path.h"
#include "graph/graph.h"
#include "graph/path_sums.h"

struct graph_labels;
struct graphs;

enum graphs_part { GRAPHS_NONE, GRAPHS_TREE, GRAPHS_PATH, GRAPHS_PARTS };

/* What belongs to it is taken over; an empty graph, labels of NULL: there is none. */
struct graphs_tree {
	struct graph graph;
	struct graph_labels *labels;
};

struct graphs_path {
	struct critical_path path;
	struct graph_labels *labels;
	uint32_t thread;       /* whose it is */
	uint64_t first_ns;     /* of the trace, which times are counted from */
	struct path_sum *sums; /* these four are made of it */
	size_t sum_count;
	const struct path_part **longest; /* in time order */
	size_t longest_count;
};

/* thread: its number; 0: all, or the first. 0, or a negative errno after having said why there is none. */
struct graphs_source {
	void *data;
	int (*make_tree)(void *data, uint32_t thread, bool is_merged, struct graphs_tree *out);
	int (*make_path)(void *data, uint32_t thread, bool is_merged, struct graphs_path *out);
};

enum { GRAPHS_LONGEST_MAX = 10000 };

struct graphs *graphs_new(const struct graphs_source *source);
void graphs_free(struct graphs *graphs);

void graphs_choose_thread(struct graphs *graphs, uint32_t thread);
uint32_t graphs_thread(const struct graphs *graphs);
void graphs_set_merged(struct graphs *graphs, bool is_merged);
bool graphs_is_merged(const struct graphs *graphs);

/* Whether what was chosen is still to be made. */
bool graphs_wants(const struct graphs *graphs, enum graphs_part part);

/* May last. What is shown meanwhile must not use what was there before. */
void graphs_make(struct graphs *graphs, enum graphs_part part);

bool graphs_has_failed(const struct graphs *graphs, enum graphs_part part);

/* What was chosen; NULL: it is not made, or could not be. */
const struct graphs_tree *graphs_tree(const struct graphs *graphs);
const struct graphs_path *graphs_path(const struct graphs *graphs);

/* Tells rows of one choice from those of others. */
uint64_t graphs_key(const struct graphs *graphs);
