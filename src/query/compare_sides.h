/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pinch compare compares: executions or runs, of one trace or two. */
#pragma once

#include "compare/comparison.h"
#include "compare/groups.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "spans/execution.h"

struct comparison_outlier;
struct settings;

/* A trace that is compared. The struct begins zeroed. */
struct compare_source {
	const char *path;
	char *name; /* what is compared of it */
	struct trace_states all;
	struct chosen_threads chosen;
	struct compared_trace trace;
	struct executions executions; /* of the threads and the time asked for */
	bool is_whole;                /* from the beginning of a command to its end */
};

/* 0, or a negative errno after a message. The caller closes it in either case. */
int compare_source_open(struct compare_source *source, const char *path, const struct settings *settings,
			const struct fold_rules *fold);
void compare_source_close(struct compare_source *source);

/* How the executions of one trace were grouped. */
struct compare_grouping {
	struct groups groups;
	struct sample group_ns[GROUPS_MAX];
	struct comparison_outlier *outliers;
};

/* The fast executions of a trace against the slow ones. 0, or a negative errno after a message. */
int compare_executions(struct comparison *comparison, struct compare_source *source, const struct settings *settings,
		       struct compare_grouping *out);
void compare_grouping_fini(struct compare_grouping *grouping);

/* Two traces: their executions if both have some, else the whole of them. The comparison is begun in any case. */
int compare_traces(struct comparison *comparison, struct compare_source sources[SIDES],
		   const struct settings *settings);
