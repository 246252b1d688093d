/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/reasons.h"
#include "graph/longest.h"
#include "results/results.h"
#include "view/json/json_fields.h"
#include "view/trace/comparison_code.h"
#include "view/trace/comparison_view.h"
#include "view/trace/difference_result.h"

static const struct result_figure *results_of_figures(const struct comparison *comparison, struct arena *arena)
{
	struct result_figure *results = arena_alloc(arena, FIGURES * sizeof(*results));
	struct text name = { 0 };

	for (unsigned int i = 0; i < FIGURES; i++) {
		struct difference difference = comparison_of_figure(comparison, i);

		name.length = 0;
		figure_put_name(&name, i);
		results[i].name = arena_strdup(arena, name.bytes);
		results[i].difference = difference_result(&difference);
	}
	text_fini(&name);
	return results;
}

/* places: of nodes among those that are put; of others SIZE_MAX, so that they have no index. */
static const struct result_reason *results_of_reasons(const struct comparison_view *view, const size_t *places,
						      struct arena *arena)
{
	const struct reasons *reasons = view->reasons;
	struct result_reason *results = arena_alloc(arena, reasons->count * sizeof(*results));
	struct text words = { 0 };

	for (size_t i = 0; i < reasons->count; i++) {
		const struct reason *reason = &reasons->list[i];

		words.length = 0;
		reason_put(&words, view->comparison, reason);
		results[i].words = arena_strdup(arena, words.bytes);
		results[i].node = places[reason->node] + 1;
		results[i].ns = difference_result(&reason->ns);
	}
	text_fini(&words);
	return results;
}

static struct result_comparison_node result_of_node(const struct comparison *comparison, size_t at,
						    const size_t *places)
{
	const struct graph_set_node *node = &comparison->set->nodes[at];
	struct difference difference = comparison_of_node(comparison, at);

	return (struct result_comparison_node){
		.parent = node->parent == SIZE_MAX ? 0 : places[node->parent] + 1,
		.kind = node->kind,
		.label = node->label,
		.boldness = difference.boldness,
		.in_graphs = { node->ns[FIRST_SIDE].count, node->ns[SECOND_SIDE].count },
		.in_count = SIDES,
		.ns = difference_result(&difference),
	};
}

static const struct result_comparison_node *results_of_nodes(const struct comparison *comparison, const size_t *places,
							     size_t count, struct arena *arena)
{
	struct result_comparison_node *results = arena_alloc(arena, count * sizeof(*results));

	for (size_t i = 0; i < comparison->set->count; i++) {
		if (places[i] == SIZE_MAX)
			continue;
		results[places[i]] = result_of_node(comparison, i, places);
		results[places[i]].in = results[places[i]].in_graphs;
	}
	return results;
}

static struct result_groups result_of_groups(const struct comparison_view *view, struct arena *arena)
{
	const struct groups *groups = view->groups;
	struct result_duration_group *results = arena_alloc(arena, groups->count * sizeof(*results));
	struct result_outlier *outliers = arena_alloc(arena, groups->outlier_count * sizeof(*outliers));

	for (size_t i = 0; i < groups->count; i++)
		results[i].duration_ns = sample_result(&view->group_ns[i]);
	for (size_t i = 0; i < groups->outlier_count; i++)
		outliers[i] = (struct result_outlier){
			view->outliers[i].since_ns,
			view->outliers[i].duration_ns,
			view->outliers[i].thread,
		};
	return (struct result_groups){ groups->silhouette, results, groups->count, outliers, groups->outlier_count };
}

static const struct result_condition *results_of_answers(const struct comparison_view *view, struct arena *arena)
{
	struct result_condition *results = arena_alloc(arena, view->answer_count * sizeof(*results));

	for (size_t i = 0; i < view->answer_count; i++) {
		const struct comparison_answer *answer = &view->answers[i];

		results[i] = (struct result_condition){
			.condition = answer->condition->text,
			.holds = answer->holds,
			.is_share = answer->condition->is_share,
			.change_share = answer->change,
			.is_change = !answer->condition->is_share,
			.change = answer->change,
		};
	}
	return results;
}

static struct result_comparison_figures what_differs(const struct comparison_view *view, const size_t *places,
						     struct arena *arena)
{
	const struct comparison *comparison = view->comparison;
	const char **sides = arena_alloc(arena, SIDES * sizeof(*sides));
	struct result_comparison_figures result = {
		.of = comparison->is_of_runs ? "runs" : "executions",
		.is_per_second = comparison->is_per_second,
		.sides = sides,
		.side_count = SIDES,
		.has_groups = view->groups,
		.conditions = results_of_answers(view, arena),
		.condition_count = view->answer_count,
		.reasons = results_of_reasons(view, places, arena),
		.reason_count = view->reasons->count,
		.unsure = view->reasons->unsure_count,
		.figures = results_of_figures(comparison, arena),
		.figure_count = FIGURES,
		.code = view->code ? comparison_code_results(view->code, arena) : NULL,
		.configurations = view->code ? configurations_results(view->code, arena) : NULL,
	};

	for (unsigned int side = 0; side < SIDES; side++)
		sides[side] = comparison->sides[side].name;
	if (view->groups)
		result.groups = result_of_groups(view, arena);
	return result;
}

/* By their time on the side where it is longer: none can have changed by more. */
static size_t *places_of_longest(const struct graph_set *set, size_t count_max, size_t *kept)
{
	double *ns = xcalloc(set->count + 1, sizeof(*ns));
	size_t *parents = xcalloc(set->count + 1, sizeof(*parents)), *places;

	for (size_t i = 0; i < set->count; i++) {
		const struct graph_set_node *node = &set->nodes[i];

		ns[i] = fmax(graph_set_ns(set, node, FIRST_SIDE).mean, graph_set_ns(set, node, SECOND_SIDE).mean);
		parents[i] = node->parent;
	}
	places = longest_places(ns, parents, set->count, count_max, kept);
	free(ns);
	free(parents);
	return places;
}

static void put(struct text *out, const struct comparison_view *view, size_t count_max)
{
	const struct comparison *comparison = view->comparison;
	struct arena *arena = arena_new();
	size_t kept, *places = places_of_longest(comparison->set, count_max, &kept);
	struct result_comparison result = {
		.figures = what_differs(view, places, arena),
		.graph = {
			.nodes = results_of_nodes(comparison, places, kept, arena),
			.node_count = kept,
			.has_left_out = kept < comparison->set->count,
			.left_out = comparison->set->count - kept,
		},
	};

	json_put_document(out, result_comparison_type(), &result);
	arena_free(arena);
	free(places);
}

void comparison_put_json(struct text *out, const struct comparison_view *view)
{
	put(out, view, SIZE_MAX);
}

void comparison_put_json_longest(struct text *out, const struct comparison_view *view, size_t count_max)
{
	put(out, view, count_max);
}
