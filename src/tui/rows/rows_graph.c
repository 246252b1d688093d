/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of the graph: who and what threads waited for, and what those did meanwhile. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "tui/rows/graphs.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_graph.h"
#include "view/page.h"
#include "view/text/bars.h"

enum { SORT_TIME, SORT_COUNT };
enum { SHARE_COLUMNS = 8, TIME_COLUMNS = 10, COUNT_COLUMNS = 9, BAR_COLUMNS_MAX = 24 };

/* Rows of as much of the root's time are unfolded first, in so many levels. */
#define FIRST_SHARE 0.1
enum { FIRST_LEVELS = 3 };

static const char *const sorts[] = { "time", "count", NULL };

/* Why a node passes the filter: it, or one above it; one below it. */
enum { PASSES = 1, PASSES_BELOW = 2 };

/* What all rows belong to. */
struct shown {
	const struct graphs_tree *tree;
	const uint8_t *passing; /* by node; NULL: there is no filter */
};

static uint32_t bar_columns(uint32_t width)
{
	return width / 10 < BAR_COLUMNS_MAX ? width / 10 : BAR_COLUMNS_MAX;
}

/* Where figures begin: they stand at the end of the line, for labels move in with their depth. */
static uint32_t figures_at(const struct page *page)
{
	uint32_t figures = 1 + SHARE_COLUMNS + TIME_COLUMNS + COUNT_COLUMNS + 2 + bar_columns(page->width);

	return page->width > figures + ROW_MARK_COLUMNS ? page->width - figures : ROW_MARK_COLUMNS;
}

static void put_titles(struct page *page, const struct row_context *context)
{
	page_put(page, graphs_is_merged(context->graphs) ? "who waited for what; names merged" : "who waited for what");
	page_pad_to(page, figures_at(page));
	page_printf(page, "%*s%*s%*s", SHARE_COLUMNS, "of all", TIME_COLUMNS, "time", COUNT_COLUMNS, "count");
}

static void put_node(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	const struct shown *shown = row->owner;
	const struct graph_node *nodes = shown->tree->graph.nodes, *node = &nodes[row->index];
	const char *mark = node->is_cycle ? "(see above)" : node->is_cut ? page_ellipsis(page) : "";
	uint32_t end = figures_at(page), mark_columns = *mark ? 1 + text_columns(mark) : 0;
	double share = nodes->ns ? (double)node->ns / nodes->ns : 0;

	if (node->kind == GRAPH_THREAD || node->kind == GRAPH_THREADS)
		page_color(page, PAGE_BOLD);
	else if (node->kind == GRAPH_WAIT)
		page_color(page, PAGE_YELLOW);
	if (end > page->column + mark_columns + 1)
		page_put_path(page, graph_label(shown->tree->labels, node), end - page->column - mark_columns - 1);
	page_color(page, PAGE_DIM);
	page_put(page, *mark ? " " : "");
	page_put(page, mark);
	page_color(page, PAGE_PLAIN);
	page_pad_to(page, end);
	page_put_share(page, share, SHARE_COLUMNS);
	page_put_duration(page, node->ns, TIME_COLUMNS);
	page_put_count(page, node->count, COUNT_COLUMNS);
	page_put(page, "  ");
	bars_put(page, share, bar_columns(page->width));
}

static int by_count(const void *a, const void *b, void *data)
{
	const struct graph_node *nodes = data;
	const struct graph_node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* In the page's order: as the graph has them, that is by time. */
static size_t *children_of(struct rows *rows, const struct graph *graph, size_t node, size_t *count)
{
	size_t *children, n = 0;

	for (size_t i = graph->nodes[node].first; i != SIZE_MAX; i = graph->nodes[i].next)
		n++;
	children = arena_alloc(rows_arena(rows), (n + 1) * sizeof(*children));
	*count = n;
	n = 0;
	for (size_t i = graph->nodes[node].first; i != SIZE_MAX; i = graph->nodes[i].next)
		children[n++] = i;
	if (rows_context(rows)->sort == SORT_COUNT)
		qsort_r(children, n, sizeof(*children), by_count, graph->nodes);
	for (size_t i = 0; rows_context(rows)->is_reversed && i < n / 2; i++) {
		size_t child = children[i];

		children[i] = children[n - 1 - i];
		children[n - 1 - i] = child;
	}
	return children;
}

static void add_node(struct rows *rows, const struct row *parent, const struct shown *shown, size_t node);

static void add_children(struct rows *rows, const struct row *row)
{
	const struct shown *shown = row->owner;
	size_t count, *children = children_of(rows, &shown->tree->graph, row->index, &count);

	for (size_t i = 0; i < count; i++)
		add_node(rows, row, shown, children[i]);
}

static const struct row_kind node_kind = { put_node, add_children };

static void add_node(struct rows *rows, const struct row *parent, const struct shown *shown, size_t node)
{
	const struct graph_node *nodes = shown->tree->graph.nodes;
	bool is_large = nodes[node].ns >= FIRST_SHARE * nodes->ns && (!parent || parent->depth + 1 < FIRST_LEVELS);

	if (shown->passing && !shown->passing[node])
		return;
	rows_add(rows, parent,
		 (struct row){
			 .kind = &node_kind,
			 .owner = shown,
			 .index = node,
			 .key = graphs_key(rows_context(rows)->graphs) + node,
			 .can_unfold = nodes[node].first != SIZE_MAX,
			 .begins_unfolded = shown->passing ? shown->passing[node] & PASSES_BELOW : is_large,
		 });
}

/* A parent comes before its children. */
static const uint8_t *passing_of(struct rows *rows, const struct graphs_tree *tree)
{
	const struct graph_node *nodes = tree->graph.nodes;
	size_t count = tree->graph.count;
	uint8_t *passing = arena_alloc(rows_arena(rows), count);

	for (size_t i = 0; i < count; i++)
		passing[i] = rows_filter_has(rows, graph_label(tree->labels, &nodes[i])) ? PASSES : 0;
	for (size_t i = count; i-- > 1;)
		if (passing[i])
			passing[nodes[i].parent] |= PASSES_BELOW;
	for (size_t i = 1; i < count; i++)
		passing[i] |= passing[nodes[i].parent] & PASSES;
	return passing;
}

void rows_add_making(struct rows *rows, enum graphs_part part)
{
	bool has_failed = graphs_has_failed(rows_context(rows)->graphs, part);

	rows_add_text(rows, NULL, 0,
		      has_failed                        ? "the graph could not be made"
		      : rows_context(rows)->has_unicode ? "making it…"
							: "making it ...");
}

static void add_rows(struct rows *rows)
{
	const struct graphs *graphs = rows_context(rows)->graphs;
	const struct graphs_tree *tree = graphs_tree(graphs);
	struct shown *shown;

	if (!tree)
		rows_add_making(rows, GRAPHS_TREE);
	if (!tree || !tree->graph.count)
		return;
	shown = arena_alloc(rows_arena(rows), sizeof(*shown));
	shown->tree = tree;
	if (!rows_filter_has(rows, NULL))
		shown->passing = passing_of(rows, tree);
	add_node(rows, NULL, shown, 0);
}

const struct tui_page graph_page = {
	.name = "GRAPH",
	.key = '9',
	.graphs_part = GRAPHS_TREE,
	.sorts = sorts,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
