/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A critical path as text and as JSON. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct critical_path;
struct graph_labels;
struct path_part;
struct result_doing;
struct result_path;
struct text;

struct path_view {
	const struct critical_path *path;
	struct graph_labels *labels;
	uint32_t thread;   /* whose it is */
	uint64_t first_ns; /* of the trace, which times are counted from */
	double share_min;  /* what has less is shown together */
};

void path_put_text(struct text *out, const struct path_view *view);

/* The sums, and of the parts the longest ones, at most so many, at least one; SIZE_MAX: all, and nothing is left out. */
void path_put_json(struct text *out, const struct path_view *view, size_t part_count_max);

/* The same as a result, which lives as long as the arena and the labels. */
struct result_path path_result(const struct path_view *view, size_t part_count_max, struct arena *arena);

/* One part, as JSON has it. Strings are the labels'. */
struct result_doing path_part_doing(struct graph_labels *labels, const struct path_part *part);
