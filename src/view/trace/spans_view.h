/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions as text and as JSON.
 *
 * Owns: executions, comparisons and replays, in all forms.
 * Used by: query, show, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values.h"

struct execution;
struct features;
struct graph_labels;
struct span;
struct text;

struct span_row {
	const struct execution *execution;
	const struct features *features;
	uint32_t number; /* among those of its span, from 1, by their beginnings */
	bool has_gap;
};

struct spans_view {
	const struct span *spans[SPANS_MAX]; /* NULL: there is none, or it is not wanted */
	struct span_row *rows;               /* of these spans, by their beginnings */
	size_t count;
	struct graph_labels *labels;
	uint64_t first_ns;      /* of the trace, which times are counted from */
	uint32_t row_count_max; /* of the text's table */
	bool is_by_begin;       /* else by duration */
};

/* The verdict for each span, then a table. */
void spans_put_text(struct text *out, const struct spans_view *view);

/* All executions, by their beginnings. */
void spans_put_json(struct text *out, const struct spans_view *view);

/* "running", "waiting for a CPU", "lock": by state_share(). */
const char *span_share_name(unsigned int share);

/* Durations of a span: so many of 1000 take at most so long. 0: it has no execution. */
uint64_t span_quantile_ns(const uint64_t *sorted_ns, size_t count, unsigned int per_mille);

/* Durations of one span, sorted, for the caller to free. */
uint64_t *span_durations(const struct spans_view *view, uint32_t span, size_t *count);
