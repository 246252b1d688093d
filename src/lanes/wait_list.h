/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a stretch of time as rows, by their beginnings or the longest first: what threads were blocked by, and when they waited for a CPU. They are looked
 * for step by step; of very many, later ones, or shorter ones, are not listed, and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph_labels;
struct lane_filter;
struct lanes;
struct text;
struct trace_states;
struct wait_list;

struct listed_wait {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t thread, share;
};

/* The filter is copied, the rest is borrowed. */
struct wait_list *wait_list_new(const struct trace_states *all, const struct lanes *lanes, struct graph_labels *labels,
				const struct lane_filter *filter);
void wait_list_free(struct wait_list *list);

/* Goes on looking for about budget_ns. */
void wait_list_step(struct wait_list *list, uint64_t budget_ns);

/* Puts {"first", "events", "rows", "is_counted", "left_out"}: count of them from a row on. */
void wait_list_put_rows(const struct wait_list *list, size_t row, size_t count, struct text *out);

/* The number of the first row that begins at or after a time, CLOCK_MONOTONIC. */
size_t wait_list_row_at(const struct wait_list *list, uint64_t time_ns);

struct wait_list_count {
	size_t rows;
	uint64_t left_out; /* that are found and not listed */
	bool is_counted;   /* all are found */
};

/* Those that are listed by now. They are valid until the next step. */
const struct listed_wait *wait_list_found(const struct wait_list *list, struct wait_list_count *out);
