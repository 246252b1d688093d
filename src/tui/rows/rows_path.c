/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of the critical path: its sums, and below them its longest parts in time order. */
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "tui/rows/graphs.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_graph.h"
#include "view/page.h"

enum { SHARE_COLUMNS = 8, TIME_COLUMNS = 10, COUNT_COLUMNS = 9, BEGIN_COLUMNS = 17, WHO_COLUMNS_MAX = 30 };
enum { NUMBER_WHOSE, NUMBER_PARTS = 1000, NUMBER_REST };

/* The same below a row. */
enum { NUMBER_MOST, NUMBER_WHO = 1000, NUMBER_WHAT = 2000, NUMBER_END = 3000 };

static uint64_t length_ns(const struct critical_path *path)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->count; i++)
		ns += path->parts[i].end_ns - path->parts[i].begin_ns;
	return ns;
}

static void put_titles(struct page *page, const struct row_context *context)
{
	page_printf(page, "%*s%*s%*s  ", SHARE_COLUMNS, "of all", TIME_COLUMNS, "time", COUNT_COLUMNS, "count");
	page_put(page, graphs_is_merged(context->graphs) ? "who did what; names merged" : "who did what");
}

static void put_doing(struct page *page, struct graph_labels *labels, const struct path_part *part)
{
	const char *end = path_part_end(labels, part);
	uint32_t end_columns = end ? 2 + text_columns(end) : 0;

	page_color(page, PAGE_BOLD);
	page_put_path(page, path_part_who(labels, part), WHO_COLUMNS_MAX);
	page_color(page, end ? PAGE_YELLOW : PAGE_PLAIN);
	page_put(page, "  ");
	if (end_columns > page_columns_left(page) / 2)
		end_columns = page_columns_left(page) / 2;
	page_put_path(page, path_part_what(labels, part), page_columns_left(page) - end_columns);
	if (!end || page_columns_left(page) < 4)
		return;
	page_put(page, ": ");
	page_put_path(page, end, page_columns_left(page));
}

static void add_whole(struct rows *rows, const struct row *row, const struct path_part *part)
{
	const struct graphs_path *path = row->owner;
	const char *end = path_part_end(path->labels, part);

	rows_add_whole(rows, row, NUMBER_WHO, "", path_part_who(path->labels, part));
	rows_add_whole(rows, row, NUMBER_WHAT, "", path_part_what(path->labels, part));
	if (end)
		rows_add_whole(rows, row, NUMBER_END, "ended by: ", end);
}

/* count: the length of the path. */
static void put_sum(struct page *page, const struct row *row, const struct row_context *context __attribute__((unused)))
{
	const struct path_sum *sum = row->item;
	const struct graphs_path *path = row->owner;

	page_put_share(page, row->count ? (double)sum->ns / row->count : 0, SHARE_COLUMNS);
	page_put_duration(page, sum->ns, TIME_COLUMNS);
	page_put_count(page, sum->count, COUNT_COLUMNS);
	page_put(page, "  ");
	put_doing(page, path->labels, &sum->part);
}

static void add_sum_rows(struct rows *rows, const struct row *row)
{
	const struct path_sum *sum = row->item;
	struct text line = { 0 };

	add_whole(rows, row, &sum->part);
	text_put(&line, "max ");
	text_put_duration(&line, sum->max_ns);
	text_put(&line, " at once");
	rows_add_text(rows, row, NUMBER_MOST, line.bytes);
	text_fini(&line);
}

static const struct row_kind sum_kind = { put_sum, add_sum_rows };

static void put_part(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	const struct path_part *part = row->item;
	const struct graphs_path *path = row->owner;

	/* It may begin before the first event that the trace has. */
	page_printf(page, "%*.6f s", BEGIN_COLUMNS - 2, ((double)part->begin_ns - (double)path->first_ns) / 1e9);
	page_put_duration(page, part->end_ns - part->begin_ns, TIME_COLUMNS);
	page_put(page, "  ");
	put_doing(page, path->labels, part);
}

static void add_part_rows(struct rows *rows, const struct row *row)
{
	add_whole(rows, row, row->item);
}

static const struct row_kind part_kind = { put_part, add_part_rows };

static bool passes(const struct rows *rows, struct graph_labels *labels, const struct path_part *part)
{
	return rows_filter_has(rows, NULL) || rows_filter_has(rows, path_part_who(labels, part)) ||
	       rows_filter_has(rows, path_part_what(labels, part)) ||
	       rows_filter_has(rows, path_part_end(labels, part));
}

static void add_whose(struct rows *rows, const struct graphs_path *path, uint64_t all_ns)
{
	struct graph_node whose = { .kind = GRAPH_THREAD, .id = path->thread };
	struct text line = { 0 };

	text_put(&line, "what ");
	text_put(&line, graph_label(path->labels, &whose));
	text_put(&line, " was blocked on, and what it did, ");
	text_put_duration(&line, all_ns);
	rows_add_whole(rows, NULL, NUMBER_WHOSE, "", line.bytes);
	text_fini(&line);
}

static void add_sums(struct rows *rows, const struct graphs_path *path, uint64_t all_ns)
{
	for (size_t i = 0; i < path->sum_count; i++)
		if (passes(rows, path->labels, &path->sums[i].part))
			rows_add(rows, NULL,
				 (struct row){
					 .kind = &sum_kind,
					 .owner = path,
					 .item = &path->sums[i],
					 .count = all_ns,
					 .can_unfold = true,
					 .key = graphs_key(rows_context(rows)->graphs) + i,
				 });
}

static void add_parts(struct rows *rows, const struct graphs_path *path)
{
	for (size_t i = 0; i < path->longest_count; i++)
		if (passes(rows, path->labels, path->longest[i]))
			rows_add(rows, NULL,
				 (struct row){
					 .kind = &part_kind,
					 .owner = path,
					 .item = path->longest[i],
					 .can_unfold = true,
					 .key = graphs_key(rows_context(rows)->graphs) + i,
				 });
}

static void add_rest(struct rows *rows, const struct graphs_path *path)
{
	struct text line = { 0 };

	if (path->longest_count == path->path.count || !rows_filter_has(rows, NULL))
		return;
	text_put_count(&line, path->path.count - path->longest_count);
	text_put(&line, " shorter parts are only in the sums");
	rows_add_text(rows, NULL, NUMBER_REST, line.bytes);
	text_fini(&line);
}

static void add_rows(struct rows *rows)
{
	const struct graphs_path *path = graphs_path(rows_context(rows)->graphs);
	bool has_all;
	uint64_t all_ns;

	if (!path) {
		rows_add_making(rows, GRAPHS_PATH);
		return;
	}
	all_ns = length_ns(&path->path);
	has_all = path->longest_count == path->path.count;
	add_whose(rows, path, all_ns);
	add_sums(rows, path, all_ns);
	rows_add_heading(rows, NUMBER_PARTS,
			 has_all ? "In time order: start, duration" : "Longest parts in time order: start, duration");
	add_parts(rows, path);
	add_rest(rows, path);
}

const struct tui_page critical_page = {
	.name = "CRITICAL",
	.key = '0',
	.short_name = "CP",
	.graphs_part = GRAPHS_PATH,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
