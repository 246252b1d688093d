/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/reasons.h"
#include "graph/graph_label.h"
#include "graph/longest.h"
#include "view/json/json_parts.h"
#include "view/trace/comparison_view.h"

static void put_number(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

static void put_sample(struct json *json, const char *key, const struct sample *sample)
{
	json_key(json, key);
	json_begin_object(json);
	json_put_uint(json, "n", sample->count);
	put_number(json, "mean", sample->mean);
	put_number(json, "deviation", sample_deviation(sample));
	json_end_object(json);
}

static void put_difference(struct json *json, const struct difference *difference)
{
	put_sample(json, "first", &difference->of[FIRST_SIDE]);
	put_sample(json, "second", &difference->of[SECOND_SIDE]);
	put_number(json, "change", difference->delta);
	put_number(json, "change_share", difference_share(difference));
	put_number(json, "d", difference->effect);
	put_number(json, "p", difference->chance);
}

static void put_figures(struct json *json, const struct comparison *comparison)
{
	struct text name = { 0 };

	json_key(json, "figures");
	json_begin_array(json);
	for (unsigned int i = 0; i < FIGURES; i++) {
		struct difference difference = comparison_of_figure(comparison, i);

		name.length = 0;
		figure_put_name(&name, i);
		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "name", name.bytes);
		put_difference(json, &difference);
		json_end_object(json);
	}
	json_end_array(json);
	text_fini(&name);
}

static void put_place(struct json *json, const char *key, size_t place)
{
	json_key(json, key);
	if (place == SIZE_MAX)
		json_null(json);
	else
		json_uint(json, place);
}

/* places: of nodes among those that are put. */
static void put_reasons(struct json *json, const struct comparison_view *view, const size_t *places)
{
	struct text words = { 0 };

	json_key(json, "reasons");
	json_begin_array(json);
	for (size_t i = 0; i < view->reasons->count; i++) {
		const struct reason *reason = &view->reasons->list[i];

		words.length = 0;
		reason_put(&words, view->comparison, reason);
		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "words", words.bytes);
		put_place(json, "node", places[reason->node]);
		put_difference(json, &reason->ns);
		json_end_object(json);
	}
	json_end_array(json);
	json_put_uint(json, "unsure", view->reasons->unsure_count);
	text_fini(&words);
}

static void put_node(struct json *json, const struct comparison *comparison, size_t at, const size_t *places)
{
	const struct graph_set_node *node = &comparison->set->nodes[at];
	struct difference difference = comparison_of_node(comparison, at);

	json_on_one_line(json);
	json_begin_object(json);
	put_place(json, "parent", node->parent == SIZE_MAX ? SIZE_MAX : places[node->parent]);
	json_put_string(json, "kind", graph_kind_name(node->kind));
	json_put_string(json, "label", node->label);
	json_put_uint(json, "boldness", difference.boldness);
	json_key(json, "in");
	json_begin_array(json);
	for (unsigned int side = 0; side < SIDES; side++)
		json_uint(json, node->ns[side].count);
	json_end_array(json);
	put_difference(json, &difference);
	json_end_object(json);
}

static void put_groups(struct json *json, const struct comparison_view *view)
{
	json_key(json, "silhouette");
	json_double(json, view->groups->silhouette);
	json_key(json, "groups");
	json_begin_array(json);
	for (unsigned int i = 0; i < view->groups->count; i++) {
		json_on_one_line(json);
		json_begin_object(json);
		put_sample(json, "duration_ns", &view->group_ns[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "outliers");
	json_begin_array(json);
	for (size_t i = 0; i < view->groups->outlier_count; i++) {
		json_on_one_line(json);
		json_begin_object(json);
		json_put_uint(json, "since_ns", view->outliers[i].since_ns);
		json_put_uint(json, "duration_ns", view->outliers[i].duration_ns);
		json_put_string(json, "thread", view->outliers[i].thread);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_answers(struct json *json, const struct comparison_view *view)
{
	json_key(json, "conditions");
	json_begin_array(json);
	for (size_t i = 0; i < view->answer_count; i++) {
		const struct comparison_answer *answer = &view->answers[i];

		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "condition", answer->condition->text);
		json_key(json, "holds");
		json_bool(json, answer->holds);
		put_number(json, answer->condition->is_share ? "change_share" : "change", answer->change);
		json_end_object(json);
	}
	json_end_array(json);
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
	size_t kept, *places = places_of_longest(comparison->set, count_max, &kept);
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_string(&json, "of", comparison->is_of_runs ? "runs" : "executions");
	json_key(&json, "is_per_second");
	json_bool(&json, comparison->is_per_second);
	json_key(&json, "sides");
	json_begin_array(&json);
	for (unsigned int side = 0; side < SIDES; side++)
		json_string(&json, comparison->sides[side].name);
	json_end_array(&json);
	if (view->groups)
		put_groups(&json, view);
	put_answers(&json, view);
	put_reasons(&json, view, places);
	put_figures(&json, comparison);
	json_key(&json, "nodes");
	json_begin_array(&json);
	for (size_t i = 0; i < comparison->set->count; i++)
		if (places[i] != SIZE_MAX)
			put_node(&json, comparison, i, places);
	json_end_array(&json);
	if (kept < comparison->set->count) {
		json_put_uint(&json, "left_out", comparison->set->count - kept);
	}
	json_end_object(&json);
	json_fini(&json);
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
