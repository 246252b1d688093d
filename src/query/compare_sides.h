/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pinch compare compares: executions or runs, of one trace or two. */
#pragma once

#include "compare/comparison.h"
#include "compare/groups.h"

struct compare_code;
struct compare_source;
struct comparison_outlier;
struct graph;
struct settings;

/* How the executions of one trace were grouped. */
struct compare_grouping {
	struct groups groups;
	double *values; /* FIGURES of each execution */
	struct sample group_ns[GROUPS_MAX];
	struct comparison_outlier *outliers;
	unsigned int sides[SIDES]; /* the groups that are compared, from 0 on */
	char names[SIDES][32];
	char *note;        /* of what makes the comparison doubtful; NULL: nothing does */
	size_t part_count; /* executions of which a graph is */
};

/* All executions of a trace in groups, of which none are compared. 0, or a negative errno after a message. */
int compare_group_executions(const struct compare_source *source, const struct settings *settings,
			     struct compare_grouping *out);

/*
 * A group of executions of a trace against another one: the fast ones against the slow ones, unless settings say which.
 * 0, or a negative errno after a message. The comparison is begun in any case.
 */
int compare_executions(struct comparison *comparison, struct compare_code *code, struct compare_source *source,
		       const struct settings *settings, struct compare_grouping *out);

/* The graph of all executions of the group that settings name, as one: graph_fini() if it is 0. */
int compare_group_graph(struct compare_source *source, const struct settings *settings, struct compare_grouping *out,
			struct graph *graph);
void compare_grouping_fini(struct compare_grouping *grouping);

/* Two traces, of SIDES sources: their executions if both have some, else the whole of them. The comparison is begun in any case. */
int compare_traces(struct comparison *comparison, struct compare_code *code, struct compare_source *sources,
		   const struct settings *settings);
