/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "graph/path_sums.h"
#include "view/json/json_parts.h"
#include "view/trace/whatif_text.h"
#include "whatif/whatif.h"

static void put_predicted(struct json *json, const struct whatif *whatif, uint64_t predicted_ns)
{
	json_put_uint(json, "predicted_ns", predicted_ns);
	json_key(json, "gain");
	json_double(json, whatif_gain(whatif, predicted_ns));
}

static void put_path(struct json *json, const struct whatif_view *view)
{
	size_t count;
	struct path_sum *sums = path_sums(&view->answer->path, view->labels, &count);

	json_key(json, "path");
	json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		const struct path_part *part = &sums[i].part;

		json_on_one_line(json);
		json_begin_object(json);
		json_put_uint(json, "ns", sums[i].ns);
		json_put_uint(json, "count", sums[i].count);
		json_put_uint(json, "thread", part->thread);
		json_put_string(json, "who", path_part_who(view->labels, part));
		json_put_string(json, "kind", graph_kind_name(part->kind));
		json_put_string(json, "what", path_part_what(view->labels, part));
		json_put_string(json, "end", path_part_end(view->labels, part));
		json_end_object(json);
	}
	json_end_array(json);
	free(sums);
}

static void put_answer(struct json *json, const struct whatif_view *view)
{
	json_put_string(json, "kind", view->kind);
	json_put_string(json, "name", view->name);
	put_predicted(json, view->whatif, view->answer->predicted_ns);
	json_put_uint(json, "least_ns", view->answer->least_ns);
	json_put_uint(json, "most_ns", view->answer->most_ns);
	json_put_uint(json, "samples", view->answer->samples.chosen);
	json_put_uint(json, "all_samples", view->answer->samples.all);
	put_path(json, view);
}

static void put_element(struct json *json, const struct whatif_rank *rank)
{
	const struct element *element = &rank->element;

	json_put_string(json, "kind", element_kind_name(element->kind));
	json_put_string(json, "name", element->name);
	if (element->kind == ELEMENT_CPUS)
		return;
	json_put_uint(json, element_is_code(element->kind) ? "running_ns" : "waited_ns", element->ns);
	json_put_uint(json, element_is_code(element->kind) ? "samples" : "waits", element->count);
	if (element_is_code(element->kind)) {
		json_key(json, "running_error");
		json_double(json, rank->error);
	}
}

static void put_ranks(struct json *json, const struct whatif_view *view)
{
	json_key(json, "elements");
	json_begin_array(json);
	for (size_t i = 0; i < view->rank_count; i++) {
		const struct whatif_rank *rank = &view->ranks[i];

		json_on_one_line(json);
		json_begin_object(json);
		put_element(json, rank);
		put_predicted(json, view->whatif, rank->predicted_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

void whatif_put_json(struct text *out, const struct whatif_view *view)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "recorded_ns", view->whatif->recorded_ns);
	json_put_uint(&json, "recorded_cpus", view->whatif->cpu_count);
	json_put_uint(&json, "replay_ns", view->whatif->replay_ns);
	json_key(&json, "replay_error");
	json_double(&json, -whatif_gain(view->whatif, view->whatif->replay_ns));
	json_put_uint(&json, "cpus", view->cpu_count);
	json_key(&json, "scale");
	json_double(&json, view->scale);
	if (view->answer)
		put_answer(&json, view);
	else
		put_ranks(&json, view);
	json_end_object(&json);
	json_fini(&json);
}
