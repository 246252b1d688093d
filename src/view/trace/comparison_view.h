/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as text, as JSON and in the language of Graphviz. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/comparison.h"
#include "compare/condition.h"
#include "compare/groups.h"

struct comparison_code;
struct reasons;
struct text;

struct comparison_outlier {
	uint64_t since_ns, duration_ns; /* since the first event */
	const char *thread;
};

struct comparison_answer {
	const struct condition *condition;
	bool holds;
	double change;
};

/* What there is to be shown; all of it is borrowed. */
struct comparison_view {
	const struct comparison *comparison;
	const struct reasons *reasons;
	const struct comparison_code *code;        /* NULL: nothing is known of it */
	const struct groups *groups;               /* NULL: nothing was grouped */
	const struct sample *group_ns;             /* durations, [groups->count] */
	const unsigned int *group_sides;           /* [SIDES]: which of them are compared */
	const struct comparison_outlier *outliers; /* [groups->outlier_count] */
	const char *note;                          /* of what makes it doubtful; NULL: nothing does */
	const struct comparison_answer *answers;
	size_t answer_count;
};

void comparison_put_text(struct text *out, const struct comparison_view *view);
void comparison_put_json(struct text *out, const struct comparison_view *view);

/* Of the graph only the count_max nodes that have most time, those above them, and how many are left out. */
void comparison_put_json_longest(struct text *out, const struct comparison_view *view, size_t count_max);

/* What is only on the first side is dashed, what is only on the second one dotted; else the bolder, the surer. */
void comparison_put_dot(struct text *out, const struct comparison_view *view);
