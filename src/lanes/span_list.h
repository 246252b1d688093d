/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executions of the spans that were recorded, as rows, by their beginnings. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lane_filter;
struct text;
struct trace_states;

/* Puts {"first", "events", "rows", "is_counted", "left_out"}: count of them from a row on. */
void span_list_put_rows(const struct trace_states *all, const struct lane_filter *filter, size_t row, size_t count,
			struct text *out);

/* The number of the first row that begins at or after a time, CLOCK_MONOTONIC. */
size_t span_list_row_at(const struct trace_states *all, const struct lane_filter *filter, uint64_t time_ns);
