/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "graph/critical_path.h"
#include "graph/graph_label.h"
#include "session/session.h"
#include "session/threads.h"
#include "test.h"
#include "view/graph/path_text.h"

enum { COUNT = 6 };

static struct path_part parts[COUNT];

static const struct path_part *make_parts(const uint64_t lengths[COUNT])
{
	uint64_t now_ns = 1000;

	for (size_t i = 0; i < COUNT; i++) {
		parts[i] = (struct path_part){
			.begin_ns = now_ns, .end_ns = now_ns + lengths[i], .thread = 1, .kind = GRAPH_RUNNING
		};
		now_ns += lengths[i];
	}
	return parts;
}

/* Whether just those parts are shown that are marked, if there may be `max` of them. */
static bool emits(const uint64_t lengths[COUNT], size_t max, const bool is_recorded[COUNT], json_int_t left_out)
{
	struct critical_path path = { .parts = (struct path_part *)make_parts(lengths), .count = COUNT };
	struct session *session = session_new(1, 1 << 16);
	struct threads *threads = threads_new(session);
	struct graph_labels *labels = graph_labels_new(&(struct graph_names){ .threads = threads });
	struct path_view view = { .path = &path, .labels = labels };
	struct text text = { 0 };
	bool is_right;
	size_t at = 0;
	json_t *root;

	path_put_json(&text, &view, max);
	root = json_loads(text.bytes, 0, NULL);
	is_right = root && json_integer_value(json_object_get(root, "left_out")) == left_out;
	for (size_t i = 0; i < COUNT && is_right; i++)
		if (is_recorded[i])
			is_right =
				json_integer_value(json_object_get(json_array_get(json_object_get(root, "parts"), at++),
								   "begin_ns")) == (json_int_t)parts[i].begin_ns;
	is_right &= json_array_size(json_object_get(root, "parts")) == at;
	json_decref(root);
	text_fini(&text);
	graph_labels_free(labels);
	threads_free(threads);
	session_free(session);
	return is_right;
}

TEST(all_parts_are_recorded_where_there_is_space)
{
	CHECK(emits((uint64_t[]){ 5, 1, 9, 1, 7, 3 }, 6, (bool[]){ 1, 1, 1, 1, 1, 1 }, 0));
}

TEST(the_longest_parts_are_recorded_in_time_order)
{
	CHECK(emits((uint64_t[]){ 5, 1, 9, 1, 7, 3 }, 3, (bool[]){ 1, 0, 1, 0, 1, 0 }, 3));
}

TEST(equal_parts_leave_space_for_longer_ones_behind_them)
{
	CHECK(emits((uint64_t[]){ 2, 2, 2, 2, 9, 8 }, 3, (bool[]){ 1, 0, 0, 0, 1, 1 }, 3));
}
