/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_threads.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "session/hosts.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/strip_picture.h"
#include "view/page.h"
#include "view/thread_columns.h"

enum { LABEL_COLUMNS = 23, LABEL_COLUMNS_WIDE = 35, WIDE = 120 };
enum { NUMBER_IDS = 0, NUMBER_SLICES = 100, NUMBER_STALLS };

/* By each column, and by name; the first one is the order that the report has. */
static const char *const sorts[] = {
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) title,
#include "report/thread.def"
#include "report/forms/undef.def"
	"name",
	NULL,
};

enum { SORT_NAME = THREAD_COLUMNS };

static uint32_t label_end(const struct row_context *context)
{
	return ROW_MARK_COLUMNS + (context->width >= WIDE ? LABEL_COLUMNS_WIDE : LABEL_COLUMNS);
}

void row_put_thread_titles(struct page *page, const struct row_context *context)
{
	page_pad_to(page, label_end(context));
	for (size_t i = 0; i < THREAD_COLUMNS; i++)
		page_printf(page, "%*s", ROW_TIME_COLUMNS, thread_columns[i].title);
	page_put(page, "  ");
	if (page_columns_left(page) >= 27)
		strip_put_legend(page);
	else
		page_put(page, "over time");
}

static void put_time(struct page *page, uint64_t time_ns)
{
	if (time_ns)
		page_put_duration(page, time_ns, ROW_TIME_COLUMNS);
	else
		page_printf(page, "%*s", ROW_TIME_COLUMNS, "-");
}

static const char *name_of(const struct report_thread *thread)
{
	return thread->name ? thread->name : "";
}

/* What tells the first threads of processes of one program apart. */
static const char *label_of(const struct report_thread *thread)
{
	return thread->title ? thread->title : name_of(thread);
}

/* A row of several threads shows their mean: next to others it must not look like one. */
static void put_thread(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_thread *thread = row->item;
	uint64_t count = thread->thread_count > 1 ? thread->thread_count : 1;
	uint32_t end = label_end(context);

	if (count > 1) {
		page_put(page, "mean of ");
		page_put_count(page, count, 0);
		page_put(page, " ended");
	} else {
		page_put_name(page, label_of(thread), end - page->column - 9);
		page_printf(page, " %u", thread->tid);
	}
	page_pad_to(page, end);
	for (size_t i = 0; i < THREAD_COLUMNS; i++)
		put_time(page, thread_column_ns(thread, i) / count);
	page_put(page, "  ");
	(count > 1 ? strip_put_group : strip_put_thread)(page, thread->strip, context->report->strip_count,
							 page_columns_left(page));
}

static void add_thread_rows(struct rows *rows, const struct row *row)
{
	const struct report_thread *thread = row->item;
	struct text line = { 0 };

	text_printf(&line, "%s: thread %u of process %u", name_of(thread), thread->tid, thread->pid);
	if (id_on_host(thread->host_tid) != thread->tid || id_on_host(thread->host_pid) != thread->pid)
		text_printf(&line, " (on the host %u of %u)", id_on_host(thread->host_tid),
			    id_on_host(thread->host_pid));
	if (thread->host) {
		text_put(&line, " on ");
		text_put_escaped(&line, thread->host);
	}
	if (thread->thread_count <= 1)
		rows_add_whole(rows, row, NUMBER_IDS, "", line.bytes);
	text_fini(&line);
	text_put_count(&line, thread->critical_slices);
	text_put(&line, " of ");
	text_put_count(&line, thread->slices);
	text_put(&line, " slices critical; CMetric on a CPU ");
	text_put_duration(&line, thread->cmetric_oncpu_ns);
	text_put(&line, " on a CPU");
	rows_add_text(rows, row, NUMBER_SLICES, line.bytes);
	text_fini(&line);
	if (thread->stalls_ended_ns) {
		text_put_duration(&line, thread->stalls_ended_ns);
		text_put(&line, " of stalls ended when it woke up");
		rows_add_text(rows, row, NUMBER_STALLS, line.bytes);
		text_fini(&line);
	}
}

static const struct row_kind thread_kind = { put_thread, add_thread_rows };

uint32_t row_thread(const struct row *row)
{
	const struct report_thread *thread = row->item;

	return row->kind == &thread_kind ? thread->number : 0;
}

/* A group with the sums of its threads, by column. */
struct group_row {
	const struct report_group *group;
	uint64_t sums_ns[THREAD_COLUMNS];
};

static struct group_row row_of(const struct report_group *group)
{
	struct group_row row = { .group = group };

	for (size_t i = 0; i < group->row_count; i++)
		for (size_t column = 0; column < THREAD_COLUMNS; column++)
			row.sums_ns[column] += thread_column_ns(&group->threads[i], column);
	return row;
}

static void put_group_name(struct page *page, const struct report_group *group, uint32_t end)
{
	if (group->host) {
		page_put_name(page, group->host, (end - page->column) / 2);
		page_put(page, ": ");
	}
	if (group->is_start_function)
		page_put_function(page, group->name, end - page->column);
	else
		page_put_name(page, group->name, end - page->column);
}

static void put_group(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct group_row *sums = row->item;
	const struct report_group *group = sums->group;
	uint32_t end = label_end(context);

	page_color(page, PAGE_BOLD);
	put_group_name(page, group, end - 8);
	page_color(page, PAGE_PLAIN);
	page_put(page, context->has_unicode ? " ×" : " x");
	page_put_count(page, group->thread_count, 0);
	page_pad_to(page, end);
	for (size_t i = 0; i < THREAD_COLUMNS; i++)
		put_time(page, sums->sums_ns[i]);
	page_put(page, "  ");
	(group->thread_count > 1 ? strip_put_group : strip_put_thread)(page, group->strip, context->report->strip_count,
								       page_columns_left(page));
}

static int threads_by_name(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;
	int order = strcmp(name_of(x), name_of(y));

	return order ? order : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int groups_by_name(const void *a, const void *b)
{
	const struct group_row *x = a, *y = b;

	return strcmp(x->group->name, y->group->name);
}

static void add_thread(struct rows *rows, const struct row *parent, const struct report_thread *thread)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &thread_kind,
			 .item = thread,
			 .can_unfold = true,
			 .key = row_key(thread->key, thread->host_tid),
		 });
}

static const void *const *sorted_threads(struct rows *rows, const struct report_group *group)
{
	size_t sort = rows_context(rows)->sort;

	if (sort == SORT_NAME)
		return rows_sorted(rows, group->threads, group->row_count, sizeof(*group->threads), threads_by_name);
	return rows_sorted_by(rows, group->threads, group->row_count, sizeof(*group->threads),
			      sort ? thread_columns[sort].at : SIZE_MAX);
}

static void add_group_rows(struct rows *rows, const struct row *row)
{
	const struct report_group *group = ((const struct group_row *)row->item)->group;
	const void *const *threads = sorted_threads(rows, group);
	bool has_all = rows_filter_has(rows, group->name);
	char even[64];

	if (group->thread_count > 1 && group->imbalance > 1) {
		snprintf(even, sizeof(even), "largest: %.1f times the mean CMetric", group->imbalance);
		rows_add_text(rows, row, 0, even);
	}
	for (size_t i = 0; i < group->row_count; i++) {
		const struct report_thread *thread = threads[i];

		if (has_all || rows_filter_has(rows, thread->name) || rows_filter_has(rows, label_of(thread)))
			add_thread(rows, row, thread);
	}
}

static const struct row_kind group_kind = { put_group, add_group_rows };

static bool passes(const struct rows *rows, const struct report_group *group)
{
	if (rows_filter_has(rows, group->name))
		return true;
	for (size_t i = 0; i < group->row_count; i++)
		if (rows_filter_has(rows, group->threads[i].name))
			return true;
	return false;
}

static const void *const *sorted_groups(struct rows *rows, const struct report *report)
{
	struct group_row *groups = arena_alloc(rows_arena(rows), report->group_count * sizeof(*groups));
	size_t sort = rows_context(rows)->sort;

	for (size_t i = 0; i < report->group_count; i++)
		groups[i] = row_of(&report->groups[i]);
	if (sort == SORT_NAME)
		return rows_sorted(rows, groups, report->group_count, sizeof(*groups), groups_by_name);
	return rows_sorted_by(rows, groups, report->group_count, sizeof(*groups),
			      sort ? offsetof(struct group_row, sums_ns) + sort * sizeof(uint64_t) : SIZE_MAX);
}

void rows_add_groups(struct rows *rows, size_t count_max)
{
	const struct report *report = rows_context(rows)->report;
	const void *const *groups = sorted_groups(rows, report);
	size_t shown = 0;
	char rest[64];

	for (size_t i = 0; i < report->group_count; i++) {
		const struct group_row *group = groups[i];

		if (!passes(rows, group->group))
			continue;
		if (shown++ == count_max) {
			snprintf(rest, sizeof(rest), "%zu groups more on page THREADS", report->group_count - i);
			rows_add_text(rows, NULL, count_max, rest);
			return;
		}
		rows_add(rows, NULL,
			 (struct row){
				 .kind = &group_kind,
				 .item = group,
				 .can_unfold = true,
				 .key = row_key(group->group->key, i),
			 });
	}
}

static void add_rows(struct rows *rows)
{
	rows_add_groups(rows, SIZE_MAX);
}

const struct tui_page threads_page = {
	.name = "THREADS",
	.key = '7',
	.sorts = sorts,
	.has_filter = true,
	.put_titles = row_put_thread_titles,
	.add_rows = add_rows,
};
