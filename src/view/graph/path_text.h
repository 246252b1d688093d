/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A critical path as text and as JSON. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct critical_path;
struct graph_labels;
struct text;

struct path_view {
	const struct critical_path *path;
	struct graph_labels *labels;
	uint32_t thread;   /* whose it is */
	uint64_t first_ns; /* of the trace, which times are counted from */
	double share_min;  /* what has less is shown together */
};

void path_put_text(struct text *out, const struct path_view *view);

/* All parts, in time order, and their sums. */
void path_put_json(struct text *out, const struct path_view *view);

/* The same with so many parts at most, at least one, the longest of them, and "left_out": how many there are besides. */
void path_put_json_longest(struct text *out, const struct path_view *view, size_t part_count_max);
