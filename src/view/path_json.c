/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "graph/path_sums.h"
#include "view/path_text.h"

static void put_doing(struct json *json, const struct path_view *view, const struct path_part *part)
{
	json_key(json, "thread");
	json_uint(json, part->thread);
	json_key(json, "who");
	json_string(json, path_part_who(view->labels, part));
	json_key(json, "kind");
	json_string(json, graph_kind_name(part->kind));
	json_key(json, "what");
	json_string(json, path_part_what(view->labels, part));
	json_key(json, "end");
	json_string(json, path_part_end(view->labels, part));
}

static void put_part(struct json *json, const struct path_view *view, const struct path_part *part)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_key(json, "begin_ns");
	json_uint(json, part->begin_ns);
	json_key(json, "end_ns");
	json_uint(json, part->end_ns);
	json_key(json, "depth");
	json_uint(json, part->depth);
	put_doing(json, view, part);
	json_end_object(json);
}

static void put_sum(struct json *json, const struct path_view *view, const struct path_sum *sum)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_key(json, "ns");
	json_uint(json, sum->ns);
	json_key(json, "count");
	json_uint(json, sum->count);
	json_key(json, "max_ns");
	json_uint(json, sum->max_ns);
	put_doing(json, view, &sum->part);
	json_end_object(json);
}

void path_put_json(struct text *out, const struct path_view *view)
{
	size_t count;
	struct path_sum *sums = path_sums(view->path, view->labels, &count);
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_key(&json, "thread");
	json_uint(&json, view->thread);
	json_key(&json, "sums");
	json_begin_array(&json);
	for (size_t i = 0; i < count; i++)
		put_sum(&json, view, &sums[i]);
	json_end_array(&json);
	json_key(&json, "parts");
	json_begin_array(&json);
	for (size_t i = 0; i < view->path->count; i++)
		put_part(&json, view, &view->path->parts[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
	free(sums);
}
