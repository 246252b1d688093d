/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many graphs as one, on two sides: nodes that are called alike below those that are called alike are one,
 * which knows its time in the graphs of each side (DepGraph, section IV-A: representative graphs). Owns all
 * that it hands out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sample.h"
#include "graph/graph.h"

struct graph_labels;

enum { GRAPH_SIDES = 2 };

struct graph_set_node {
	enum graph_kind kind;
	const char *label;
	struct sample ns[GRAPH_SIDES]; /* of the graphs that have it */
	double count[GRAPH_SIDES];     /* how often, in all of them */
	size_t parent;                 /* SIZE_MAX: none */
	size_t first, next;            /* children; the next one of the same parent; SIZE_MAX: none */
	double pending_ns;             /* of the graph that is being added */
	bool is_pending;
};

struct graph_set {
	struct graph_set_node *nodes; /* [0] is the root, once there is a graph; parents come first */
	size_t count, capacity;
	uint64_t graph_counts[GRAPH_SIDES];
	bool is_of_threads;
	struct arena *arena;
	struct table *children; /* nodes plus 1, by parent, kind and label */
};

/* is_of_threads: the root stands for all threads, also when a graph is of one. */
struct graph_set *graph_set_new(bool is_of_threads);
void graph_set_free(struct graph_set *set);

/* Times and counts are multiplied with scale. */
void graph_set_add(struct graph_set *set, unsigned int side, const struct graph *graph, struct graph_labels *labels,
		   double scale);

/* The time of a node in all graphs of a side: 0 in those that do not have it. */
struct sample graph_set_ns(const struct graph_set *set, const struct graph_set_node *node, unsigned int side);
