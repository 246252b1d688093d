/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph_label.h"
#include "graph/path_sums.h"
#include "results/results.h"
#include "view/graph/path_text.h"
#include "view/json/json_fields.h"

struct result_doing path_part_doing(struct graph_labels *labels, const struct path_part *part)
{
	return (struct result_doing){
		.thread = part->thread,
		.who = path_part_who(labels, part),
		.kind = part->kind,
		.what = path_part_what(labels, part),
		.end = path_part_end(labels, part),
	};
}

static const struct result_path_sum *results_of_sums(const struct path_view *view, struct arena *arena, size_t *count)
{
	struct path_sum *sums = path_sums(view->path, view->labels, count);
	struct result_path_sum *results = arena_alloc(arena, *count * sizeof(*results));

	for (size_t i = 0; i < *count; i++)
		results[i] = (struct result_path_sum){
			.ns = sums[i].ns,
			.count = sums[i].count,
			.max_ns = sums[i].max_ns,
			.doing = path_part_doing(view->labels, &sums[i].part),
		};
	free(sums);
	return results;
}

/* Which parts are shown: all that are longer, and so many of those that are just as long. */
struct choice {
	uint64_t ns;
	size_t equal_count;
};

static bool is_chosen(struct choice *choice, const struct path_part *part)
{
	uint64_t ns = part->end_ns - part->begin_ns;

	if (ns == choice->ns && choice->equal_count) {
		choice->equal_count--;
		return true;
	}
	return ns > choice->ns;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

static struct choice choose_longest(const struct critical_path *path, size_t count)
{
	struct choice choice = { 0 };
	uint64_t *lengths;

	if (path->count <= count)
		return (struct choice){ 0, SIZE_MAX };
	lengths = xcalloc(path->count, sizeof(*lengths));
	for (size_t i = 0; i < path->count; i++)
		lengths[i] = path->parts[i].end_ns - path->parts[i].begin_ns;
	qsort(lengths, path->count, sizeof(*lengths), longest_first);
	choice.ns = lengths[count - 1];
	for (size_t i = count; i-- > 0 && lengths[i] == choice.ns;)
		choice.equal_count++;
	free(lengths);
	return choice;
}

static const struct result_path_part *results_of_parts(const struct path_view *view, struct arena *arena,
						       struct choice choice, size_t *count)
{
	const struct critical_path *path = view->path;
	struct result_path_part *results = arena_alloc(arena, path->count * sizeof(*results));

	*count = 0;
	for (size_t i = 0; i < path->count; i++) {
		const struct path_part *part = &path->parts[i];

		if (is_chosen(&choice, part))
			results[(*count)++] = (struct result_path_part){
				.begin_ns = part->begin_ns,
				.end_ns = part->end_ns,
				.depth = part->depth,
				.doing = path_part_doing(view->labels, part),
			};
	}
	return results;
}

struct result_path path_result(const struct path_view *view, size_t part_count_max, struct arena *arena)
{
	struct choice choice = choose_longest(view->path, part_count_max);
	struct result_path result = { .thread = view->thread, .has_left_out = part_count_max != SIZE_MAX };

	result.sums = results_of_sums(view, arena, &result.sum_count);
	result.parts = results_of_parts(view, arena, choice, &result.part_count);
	result.left_out = view->path->count - result.part_count;
	return result;
}

void path_put_json(struct text *out, const struct path_view *view, size_t part_count_max)
{
	struct arena *arena = arena_new();
	struct result_path result = path_result(view, part_count_max, arena);

	json_put_document(out, result_path_type(), &result);
	arena_free(arena);
}
