/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What would have been, as text and as JSON. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct graph_labels;
struct text;
struct whatif;
struct whatif_answer;
struct whatif_rank;
struct whatif_task;

struct whatif_view {
	const struct whatif *whatif;
	struct graph_labels *labels;
	enum element_kind kind;
	const char *name; /* of what is shorter; NULL: nothing, and kind says nothing */
	double scale;
	uint32_t cpu_count;
	const struct whatif_answer *answer; /* NULL: ranks are shown */
	const char *span;                   /* whose executions are predicted, too; NULL: none was asked for */
	const struct whatif_task *tasks;    /* these */
	size_t task_count;
	const uint64_t *predicted_ns; /* of each; UINT64_MAX: unknown */
	const struct whatif_rank *ranks;
	size_t rank_count;
};

void whatif_put_text(struct text *out, const struct whatif_view *view);
void whatif_put_json(struct text *out, const struct whatif_view *view);
