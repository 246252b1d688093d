/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sides that are compared, the second against the first: executions of each, or a whole run of each.
 * Times of runs of which only a part was seen are those of a second.
 *
 * Owns: what differs between executions, or runs, and whether by chance.
 * Used by: view/trace, view/table, options, query, show, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/difference.h"
#include "compare/figures.h"
#include "graph/graph_set.h"

struct execution;
struct features;
struct graph_labels;
struct states;

enum { FIRST_SIDE, SECOND_SIDE, SIDES = GRAPH_SIDES };

struct comparison_side {
	const char *name; /* borrowed: "slow executions", "new.pinch" */
	struct sample figures[FIGURES];
};

struct comparison {
	struct comparison_side sides[SIDES];
	struct graph_set *set;
	bool is_of_runs, is_per_second;
	double share_min; /* of the longer duration, for a difference to be reported */
};

/* Where executions, or threads, are found, and what they wait for is called. */
struct compared_trace {
	struct states *states;
	struct graph_labels *labels;
};

/* All of it is borrowed. */
struct compared_run {
	const uint32_t *threads;
	const struct features *features; /* of each of them, from from_ns to to_ns */
	size_t thread_count;
	uint64_t from_ns, to_ns; /* not before the first state, nor behind the last */
};

/* The caller frees what it holds with comparison_fini(). */
void comparison_init(struct comparison *comparison, bool is_of_runs, double share_min);
void comparison_fini(struct comparison *comparison);

/* has_graph: not only the figures count. */
void comparison_add(struct comparison *comparison, unsigned int side, const struct compared_trace *trace,
		    const struct execution *execution, const double values[FIGURES], bool has_graph);
void comparison_add_run(struct comparison *comparison, unsigned int side, const struct compared_trace *trace,
			const struct compared_run *run);

struct difference comparison_of_figure(const struct comparison *comparison, unsigned int figure);
struct difference comparison_of_node(const struct comparison *comparison, size_t node);

/* The same, but how much it is alone. */
double comparison_delta(const struct comparison *comparison, size_t node);

/* The least difference of time that is reported. */
double comparison_least_ns(const struct comparison *comparison);
