/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "graph/path_sums.h"
#include "view/graph/path_text.h"
#include "view/json/json_parts.h"

static void put_doing(struct json *json, const struct path_view *view, const struct path_part *part)
{
	json_put_uint(json, "thread", part->thread);
	json_put_string(json, "who", path_part_who(view->labels, part));
	json_put_string(json, "kind", graph_kind_name(part->kind));
	json_put_string(json, "what", path_part_what(view->labels, part));
	json_put_string(json, "end", path_part_end(view->labels, part));
}

static void put_part(struct json *json, const struct path_view *view, const struct path_part *part)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "begin_ns", part->begin_ns);
	json_put_uint(json, "end_ns", part->end_ns);
	json_put_uint(json, "depth", part->depth);
	put_doing(json, view, part);
	json_end_object(json);
}

static void put_sum(struct json *json, const struct path_view *view, const struct path_sum *sum)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "ns", sum->ns);
	json_put_uint(json, "count", sum->count);
	json_put_uint(json, "max_ns", sum->max_ns);
	put_doing(json, view, &sum->part);
	json_end_object(json);
}

static void put_sums(struct json *json, const struct path_view *view)
{
	size_t count;
	struct path_sum *sums = path_sums(view->path, view->labels, &count);

	json_key(json, "sums");
	json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		put_sum(json, view, &sums[i]);
	json_end_array(json);
	free(sums);
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

/* Returns how many there are besides. */
static size_t put_parts(struct json *json, const struct path_view *view, struct choice choice)
{
	const struct critical_path *path = view->path;
	size_t left_out = 0;

	json_key(json, "parts");
	json_begin_array(json);
	for (size_t i = 0; i < path->count; i++)
		if (is_chosen(&choice, &path->parts[i]))
			put_part(json, view, &path->parts[i]);
		else
			left_out++;
	json_end_array(json);
	return left_out;
}

static const struct choice everything = { 0, SIZE_MAX };

static void begin(struct json *json, struct text *out, const struct path_view *view)
{
	json_init(json, out);
	json_begin_object(json);
	json_put_uint(json, "thread", view->thread);
	put_sums(json, view);
}

void path_put_json(struct text *out, const struct path_view *view)
{
	struct json json;

	begin(&json, out, view);
	put_parts(&json, view, everything);
	json_end_object(&json);
	json_fini(&json);
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
		return everything;
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

void path_put_json_longest(struct text *out, const struct path_view *view, size_t part_count_max)
{
	struct json json;
	size_t left_out;

	begin(&json, out, view);
	left_out = put_parts(&json, view, choose_longest(view->path, part_count_max));
	json_put_uint(&json, "left_out", left_out);
	json_end_object(&json);
	json_fini(&json);
}
