/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/path_sums.h"
#include "results/results.h"
#include "view/graph/path_text.h"
#include "view/json/json_fields.h"
#include "view/trace/whatif_text.h"
#include "whatif/tasks.h"
#include "whatif/whatif.h"

static struct result_gain gain_of(const struct whatif_view *view, uint64_t predicted_ns)
{
	return (struct result_gain){ predicted_ns, whatif_gain(view->whatif, predicted_ns) };
}

static const struct result_whatif_sum *results_of_path(const struct whatif_view *view, struct arena *arena,
						       size_t *count)
{
	struct path_sum *sums = path_sums(&view->answer->path, view->labels, count);
	struct result_whatif_sum *results = arena_alloc(arena, *count * sizeof(*results));

	for (size_t i = 0; i < *count; i++)
		results[i] = (struct result_whatif_sum){
			.ns = sums[i].ns,
			.count = sums[i].count,
			.doing = path_part_doing(view->labels, &sums[i].part),
		};
	free(sums);
	return results;
}

static const struct result_whatif_span *result_of_span(const struct whatif_view *view, struct arena *arena)
{
	struct whatif_task_sums sums = whatif_sum_tasks(view->tasks, view->predicted_ns, view->task_count);
	struct result_whatif_span *result = arena_alloc(arena, sizeof(*result));

	*result = (struct result_whatif_span){
		.name = view->span,
		.executions = sums.count,
		.mean_ns = sums.mean_ns,
		.p99_ns = sums.p99_ns,
		.predicted_mean_ns = sums.predicted_mean_ns,
		.predicted_p99_ns = sums.predicted_p99_ns,
	};
	return result;
}

static struct result_whatif_answer result_of_answer(const struct whatif_view *view, struct arena *arena)
{
	const struct whatif_answer *answer = view->answer;
	struct result_whatif_answer result = {
		.kind = view->name ? view->kind : ELEMENT_KINDS,
		.name = view->name,
		.gain = gain_of(view, answer->predicted_ns),
		.least_ns = answer->least_ns,
		.most_ns = answer->most_ns,
		.samples = answer->samples.chosen,
		.all_samples = answer->samples.all,
	};

	result.path = results_of_path(view, arena, &result.path_count);
	if (view->span) {
		result.spans = result_of_span(view, arena);
		result.span_count = 1;
	}
	return result;
}

static struct result_element result_of_element(const struct whatif_view *view, const struct whatif_rank *rank)
{
	const struct element *element = &rank->element;
	bool is_code = element_is_code(element->kind);

	return (struct result_element){
		.kind = element->kind,
		.name = element->name,
		.is_waits = !is_code && element->kind != ELEMENT_CPUS,
		.waits = { .waited_ns = element->ns, .waits = element->count },
		.is_code = is_code,
		.code = { .running_ns = element->ns, .samples = element->count, .running_error = rank->error },
		.gain = gain_of(view, rank->predicted_ns),
	};
}

static struct result_whatif_ranks result_of_ranks(const struct whatif_view *view, struct arena *arena)
{
	struct result_element *elements = arena_alloc(arena, view->rank_count * sizeof(*elements));

	for (size_t i = 0; i < view->rank_count; i++)
		elements[i] = result_of_element(view, &view->ranks[i]);
	return (struct result_whatif_ranks){ elements, view->rank_count };
}

void whatif_put_json(struct text *out, const struct whatif_view *view)
{
	const struct whatif *whatif = view->whatif;
	struct arena *arena = arena_new();
	struct result_whatif result = {
		.recorded_ns = whatif->recorded_ns,
		.recorded_cpus = whatif->cpu_count,
		.replay_ns = whatif->replay_ns,
		.replay_error = -whatif_gain(whatif, whatif->replay_ns),
		.cpus = view->cpu_count,
		.scale = view->scale,
		.is_answer = view->answer,
		.is_ranking = !view->answer,
	};

	if (view->answer)
		result.answer = result_of_answer(view, arena);
	else
		result.ranks = result_of_ranks(view, arena);
	json_put_document(out, result_whatif_type(), &result);
	arena_free(arena);
}
