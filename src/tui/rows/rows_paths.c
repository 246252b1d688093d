/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_paths.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_cause.h"
#include "report/report_fields.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_stack.h"
#include "view/columns.h"
#include "view/page.h"
#include "view/text/text_frames.h"

enum { CAUSE_COLUMNS = 13, COUNT_COLUMNS = 9 };

/* By each figure that has a title, the first of which is the report's order, and by cause. */
static const char *const sorts[] = {
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) title,
#include "report/paths.def"
#include "report/forms/undef.def"
	"cause",
	NULL,
};

enum {
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) SORT_##member,
#include "report/paths.def"
#include "report/forms/undef.def"
	SORT_CAUSE,
};

/* Numbers of rows below a path; its frames are in between. */
enum { NUMBER_COUNTS, NUMBER_STALLS, NUMBER_ESTIMATE, NUMBER_FRAMES, NUMBER_HINT = 9999, NUMBER_SAMPLES };

/* Shares are in the order of what they are shares of. */
static bool has_sort(const struct report *report __attribute__((unused)), size_t sort)
{
	return sort != SORT_wall_share;
}

/* Beside the CMetric; NULL: the order is by that, or by no figure. Slices stand in for samples where there are none. */
static const struct report_field *ordered_figure(const struct row_context *context)
{
	if (context->sort == SORT_cmetric_ns)
		return NULL;
	if (context->sort == SORT_samples && context->report && !context->report->code.samples)
		return report_field_named(report_path_type(), "slices");
	return column_of(report_path_type(), context->sort + 1);
}

static void put_titles(struct page *page, const struct row_context *context)
{
	page_printf(page, "%*s%*s", 4 + 8, sorts[SORT_wall_share], 11, sorts[SORT_cmetric_ns]);
	if (ordered_figure(context))
		page_printf(page, "%*s", 10, sorts[context->sort]);
	page_printf(page, "  %-*s%s", CAUSE_COLUMNS, "cause", "call path");
}

static void put_path(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_path *path = row->item;
	const struct report_frame *headline = text_path_headline(path, context->fold);
	char cause[REPORT_CAUSE_BYTES];
	uint32_t cause_end;

	page_printf(page, "%3u ", path->rank);
	page_put_share(page, path->wall_share, 8);
	if (path->is_estimated)
		page_put_estimate(page, path->cmetric_ns, 11);
	else
		page_put_duration(page, path->cmetric_ns, 11);
	if (ordered_figure(context))
		column_put(page, ordered_figure(context), report_path_type(), path, 10);
	page_put(page, "  ");
	cause_end = page->column + CAUSE_COLUMNS;
	page_color(page, PAGE_YELLOW);
	page_put_name(page, path->cause != CAUSE_UNKNOWN ? report_cause_text(cause, path->cause, path->syscall) : "-",
		      CAUSE_COLUMNS - 1);
	page_pad_to(page, cause_end);
	page_color(page, PAGE_BOLD);
	if (headline)
		text_put_frame(page, headline, page_columns_left(page) * 3 / 5);
	else
		page_put(page, "no stack");
}

static void add_counts(struct rows *rows, const struct row *row, const struct report_path *path)
{
	struct text line = { 0 };

	text_put_path_basis(&line, path, true);
	text_put(&line, path->samples ? ", in " : " of ");
	text_put_count(&line, path->thread_count);
	text_put(&line, path->thread_count == 1 ? " thread" : " threads");
	for (size_t i = 0; i < path->thread_name_count; i++) {
		text_put(&line, i ? ", " : ": ");
		text_put(&line, path->thread_names[i]);
	}
	if (path->group != GROUP_NONE)
		text_printf(&line, "; %s", cause_group_name(path->group));
	rows_add_whole(rows, row, NUMBER_COUNTS, "", line.bytes);
	text_fini(&line);
	if (path->stalled_ns) {
		text_put_duration(&line, path->stalled_ns);
		text_put(&line, " of stalls ended when a thread here woke up");
		rows_add_text(rows, row, NUMBER_STALLS, line.bytes);
		text_fini(&line);
	}
	if (path->is_estimated)
		rows_add_text(rows, row, NUMBER_ESTIMATE, "~ estimated: only a sample of the stacks was kept");
}

static void put_line(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	const struct report_line *line = row->item;

	page_put_count(page, line->samples, COUNT_COLUMNS);
	page_put_share(page, row->count ? (double)line->samples / row->count : 0, 9);
	page_put(page, "  ");
	page_put_location(page, line->file ? line->file : "", line->line, page_columns_left(page));
}

static const struct row_kind line_kind = { put_line, NULL };

static void add_lines(struct rows *rows, const struct row *row)
{
	const struct report_function *function = row->item;

	for (size_t i = 0; i < function->line_count; i++)
		rows_add(rows, row,
			 (struct row){
				 .kind = &line_kind,
				 .key = i,
				 .item = &function->lines[i],
				 .count = function->samples,
			 });
}

static void put_function(struct page *page, const struct row *row,
			 const struct row_context *context __attribute__((unused)))
{
	const struct report_function *function = row->item;
	const struct report_line *line = function->lines;

	page_put_count(page, function->samples, COUNT_COLUMNS);
	page_put_share(page, row->count ? (double)function->samples / row->count : 0, 9);
	page_put(page, "  ");
	page_put_function(page, function->name, page_columns_left(page) * 3 / 5);
	page_color(page, PAGE_DIM);
	if (function->stack_tops && page_columns_left(page) > 24) {
		page_put(page, "  ");
		if (function->stack_tops < function->samples) {
			page_put_count(page, function->stack_tops, 0);
			page_put(page, " ");
		}
		page_put(page, "stack top");
	}
	if (function->line_count && line->file && page_columns_left(page) > 12) {
		page_put(page, "  ");
		page_put_location(page, line->file, line->line, page_columns_left(page));
	}
}

static const struct row_kind function_kind = { put_function, add_lines };

void rows_add_function(struct rows *rows, const struct row *parent, size_t number,
		       const struct report_function *function, size_t count_all)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &function_kind,
			 .key = number,
			 .item = function,
			 .count = count_all,
			 .can_unfold = function->line_count > 0,
		 });
}

static void add_path_rows(struct rows *rows, const struct row *row)
{
	const struct report_path *path = row->item;
	uint64_t sample_count = 0;

	add_counts(rows, row, path);
	rows_add_stack(rows, row, NUMBER_FRAMES, path->frames, path->frame_count, path->stack_end);
	if (path->names_hint)
		rows_add_whole(rows, row, NUMBER_HINT, "", path->names_hint);
	for (size_t i = 0; i < path->function_count; i++)
		sample_count += path->functions[i].samples;
	if (path->function_count)
		rows_add_text(rows, row, NUMBER_SAMPLES, "  samples");
	for (size_t i = 0; i < path->function_count; i++)
		rows_add_function(rows, row, NUMBER_SAMPLES + 1 + i, &path->functions[i], sample_count);
}

static const struct row_kind path_kind = { put_path, add_path_rows };

static int by_cause(const void *a, const void *b)
{
	const char *x = wait_cause_name(((const struct report_path *)a)->cause);
	const char *y = wait_cause_name(((const struct report_path *)b)->cause);

	return strcmp(x ? x : "~", y ? y : "~");
}

static bool passes(const struct rows *rows, const struct report_path *path)
{
	if (rows_filter_has(rows, wait_cause_name(path->cause)) || rows_filter_has(rows, path->syscall) ||
	    rows_filter_has(rows, cause_group_name(path->group)))
		return true;
	for (size_t i = 0; i < path->thread_name_count; i++)
		if (rows_filter_has(rows, path->thread_names[i]))
			return true;
	return false;
}

static const void *const *sorted_paths(struct rows *rows)
{
	const struct row_context *context = rows_context(rows);
	const struct report *report = context->report;

	if (context->sort == SORT_CAUSE)
		return rows_sorted(rows, report->paths, report->path_count, sizeof(*report->paths), by_cause);
	return rows_sorted_by_column(rows, report->paths, report->path_count, report_path_type(),
				     ordered_figure(context));
}

static void add_rows(struct rows *rows)
{
	const struct report *report = rows_context(rows)->report;
	const void *const *paths = sorted_paths(rows);
	struct text rest = { 0 };

	for (size_t i = 0; i < report->path_count; i++) {
		const struct report_path *path = paths[i];

		if (passes(rows, path))
			rows_add(rows, NULL,
				 (struct row){
					 .kind = &path_kind,
					 .item = path,
					 .can_unfold = true,
					 .key = row_key(path->key, path - report->paths),
				 });
	}
	if (report->totals.paths <= report->path_count || !rows_filter_has(rows, NULL))
		return;
	text_put_count(&rest, report->totals.paths - report->path_count);
	text_put(&rest, " more, see --top");
	rows_add_text(rows, NULL, 0, rest.bytes);
	text_fini(&rest);
}

const struct tui_page paths_page = {
	.name = "PATHS",
	.key = '2',
	.sorts = sorts,
	.has_sort = has_sort,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
