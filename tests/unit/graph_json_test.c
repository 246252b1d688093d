/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "test.h"
#include "view/graph/graph_text.h"

#define NONE SIZE_MAX

/* all threads: waiting for a CPU: nobody; running; disk: no disk had a request */
static struct graph_node nodes[] = {
	{ .kind = GRAPH_THREADS, .ns = 100, .parent = NONE }, { .kind = GRAPH_CPU, .ns = 30, .parent = 0 },
	{ .kind = GRAPH_IDLE, .ns = 10, .parent = 1 },        { .kind = GRAPH_RUNNING, .ns = 20, .parent = 0 },
	{ .kind = GRAPH_DISK, .ns = 50, .parent = 0 },        { .kind = GRAPH_DISK_IDLE, .ns = 40, .parent = 4 },
};

static struct text json_of(size_t count, size_t count_max)
{
	struct graph graph = { .nodes = nodes, .count = count };
	struct graph_labels *labels = graph_labels_new(&(struct graph_names){ 0 });
	struct text out = { 0 };

	graph_put_json(&out, &graph, labels, count_max);
	graph_labels_free(labels);
	return out;
}

static bool has_in_order(const struct text *text, const char *const *words)
{
	const char *at = text->bytes;

	for (; at && *words; words++)
		at = strstr(at, *words);
	return at;
}

TEST(the_longest_nodes_lead_to_each_other_and_the_others_are_counted)
{
	static const char *const words[] = {
		"\"parent\": null", "all threads",     "\"parent\": 0",   "\"disk\"",
		"\"parent\": 1",    "no disk request", "\"left_out\": 3", NULL,
	};
	struct text json = json_of(6, 3);

	CHECK(has_in_order(&json, words));
	CHECK(!strstr(json.bytes, "running"));
	text_fini(&json);
}

TEST(nothing_is_left_out_of_a_graph_that_is_small)
{
	struct text all = json_of(6, 6), more = json_of(6, 1000), none = json_of(0, 5);

	CHECK(strstr(all.bytes, "running") && strstr(all.bytes, "\"left_out\": 0"));
	CHECK_STRING(all.bytes, more.bytes);
	CHECK(strstr(none.bytes, "\"left_out\": 0"));
	text_fini(&all);
	text_fini(&more);
	text_fini(&none);
}
