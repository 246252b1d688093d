/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/graphs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"

struct choice {
	uint32_t thread;
	bool is_merged;
};

struct graphs {
	struct graphs_source source;
	struct choice choice;
	bool is_making;
	struct made {
		bool is_tried, is_there;
		struct choice choice; /* what it is of */
	} made[GRAPHS_PARTS];
	struct graphs_tree tree;
	struct graphs_path path;
};

struct graphs *graphs_new(const struct graphs_source *source)
{
	struct graphs *graphs = xcalloc(1, sizeof(*graphs));

	graphs->source = *source;
	return graphs;
}

static void drop_tree(struct graphs *graphs)
{
	graph_fini(&graphs->tree.graph);
	graph_labels_free(graphs->tree.labels);
	graphs->tree = (struct graphs_tree){ 0 };
}

static void drop_path(struct graphs *graphs)
{
	free(graphs->path.longest);
	free(graphs->path.sums);
	critical_path_fini(&graphs->path.path);
	graph_labels_free(graphs->path.labels);
	graphs->path = (struct graphs_path){ 0 };
}

void graphs_free(struct graphs *graphs)
{
	if (!graphs)
		return;
	drop_tree(graphs);
	drop_path(graphs);
	free(graphs);
}

void graphs_choose_thread(struct graphs *graphs, uint32_t thread)
{
	graphs->choice.thread = thread;
}

uint32_t graphs_thread(const struct graphs *graphs)
{
	return graphs->choice.thread;
}

void graphs_set_merged(struct graphs *graphs, bool is_merged)
{
	graphs->choice.is_merged = is_merged;
}

bool graphs_is_merged(const struct graphs *graphs)
{
	return graphs->choice.is_merged;
}

uint64_t graphs_key(const struct graphs *graphs)
{
	return hash_u64((uint64_t)graphs->choice.thread << 1 | graphs->choice.is_merged);
}

static bool is_tried(const struct graphs *graphs, enum graphs_part part)
{
	const struct made *made = &graphs->made[part];

	return made->is_tried && made->choice.thread == graphs->choice.thread &&
	       made->choice.is_merged == graphs->choice.is_merged;
}

bool graphs_wants(const struct graphs *graphs, enum graphs_part part)
{
	return part != GRAPHS_NONE && !graphs->is_making && !is_tried(graphs, part);
}

static int by_length(const void *a, const void *b)
{
	const struct path_part *x = *(const struct path_part *const *)a;
	const struct path_part *y = *(const struct path_part *const *)b;
	uint64_t x_ns = x->end_ns - x->begin_ns, y_ns = y->end_ns - y->begin_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* They lie in time order. */
static int by_place(const void *a, const void *b)
{
	const struct path_part *x = *(const struct path_part *const *)a;
	const struct path_part *y = *(const struct path_part *const *)b;

	return x < y ? -1 : x > y;
}

static void find_longest(struct graphs_path *path)
{
	size_t count = path->path.count;

	path->longest = xcalloc(count + 1, sizeof(*path->longest));
	for (size_t i = 0; i < count; i++)
		path->longest[i] = &path->path.parts[i];
	qsort(path->longest, count, sizeof(*path->longest), by_length);
	path->longest_count = count < GRAPHS_LONGEST_MAX ? count : GRAPHS_LONGEST_MAX;
	qsort(path->longest, path->longest_count, sizeof(*path->longest), by_place);
}

static bool make_tree(struct graphs *graphs, struct choice choice)
{
	drop_tree(graphs);
	return !graphs->source.make_tree(graphs->source.data, choice.thread, choice.is_merged, &graphs->tree);
}

static bool make_path(struct graphs *graphs, struct choice choice)
{
	drop_path(graphs);
	if (graphs->source.make_path(graphs->source.data, choice.thread, choice.is_merged, &graphs->path))
		return false;
	graphs->path.sums = path_sums(&graphs->path.path, graphs->path.labels, &graphs->path.sum_count);
	find_longest(&graphs->path);
	return true;
}

void graphs_make(struct graphs *graphs, enum graphs_part part)
{
	struct choice choice = graphs->choice; /* the user may choose another one meanwhile */
	bool was_made;

	graphs->is_making = true;
	graphs->made[part] = (struct made){ 0 };
	was_made = (part == GRAPHS_TREE ? make_tree : make_path)(graphs, choice);
	graphs->made[part] = (struct made){ .is_tried = true, .is_there = was_made, .choice = choice };
	graphs->is_making = false;
}

static bool is_there(const struct graphs *graphs, enum graphs_part part)
{
	return is_tried(graphs, part) && graphs->made[part].is_there;
}

bool graphs_has_failed(const struct graphs *graphs, enum graphs_part part)
{
	return is_tried(graphs, part) && !graphs->made[part].is_there;
}

const struct graphs_tree *graphs_tree(const struct graphs *graphs)
{
	return is_there(graphs, GRAPHS_TREE) ? &graphs->tree : NULL;
}

const struct graphs_path *graphs_path(const struct graphs *graphs)
{
	return is_there(graphs, GRAPHS_PATH) ? &graphs->path : NULL;
}
