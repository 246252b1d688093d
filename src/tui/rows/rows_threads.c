/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_threads.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/strip_picture.h"
#include "view/page.h"

enum { SORT_CMETRIC, SORT_RUNNING, SORT_RUNNABLE, SORT_BLOCKED, SORT_NAME };
enum { LABEL_COLUMNS = 23, LABEL_COLUMNS_WIDE = 35, TIME_COLUMNS = 9, WIDE = 120 };
enum { NUMBER_IDS = 0, NUMBER_SLICES = 100, NUMBER_STALLS };

static const char *const sorts[] = { "CMetric", "running", "CPU wait", "blocked", "name", NULL };

static uint32_t label_end(const struct row_context *context)
{
	return ROW_MARK_COLUMNS + (context->width >= WIDE ? LABEL_COLUMNS_WIDE : LABEL_COLUMNS);
}

void row_put_thread_titles(struct page *page, const struct row_context *context)
{
	page_pad_to(page, label_end(context));
	page_printf(page, "%*s%*s%*s%*s  ", TIME_COLUMNS, "CMetric", TIME_COLUMNS, "running", TIME_COLUMNS, "CPU wait",
		    TIME_COLUMNS, "blocked");
	if (page_room(page) >= 27)
		strip_put_legend(page);
	else
		page_put(page, "over time");
}

static void put_time(struct page *page, uint64_t time_ns)
{
	if (time_ns)
		page_put_duration(page, time_ns, TIME_COLUMNS);
	else
		page_printf(page, "%*s", TIME_COLUMNS, "-");
}

static const char *name_of(const struct report_thread *thread)
{
	return thread->name ? thread->name : "";
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
		page_put_name(page, name_of(thread), end - page->column - 9);
		page_printf(page, " %u", thread->tid);
	}
	page_pad_to(page, end);
	put_time(page, thread->cmetric_ns / count);
	put_time(page, thread->running_ns / count);
	put_time(page, thread->cpu_wait_ns / count);
	put_time(page, thread->blocked_ns / count);
	page_put(page, "  ");
	(count > 1 ? strip_put_group : strip_put_thread)(page, thread->strip, context->report->strip_count,
							 page_room(page));
}

static void add_thread_rows(struct rows *rows, const struct row *row)
{
	const struct report_thread *thread = row->item;
	struct text line = { 0 };

	text_printf(&line, "%s: thread %u of process %u", name_of(thread), thread->tid, thread->pid);
	if (thread->host_tid != thread->tid || thread->host_pid != thread->pid)
		text_printf(&line, " (on the host %u of %u)", thread->host_tid, thread->host_pid);
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

struct group_sums {
	uint64_t running_ns, runnable_ns, blocked_ns;
};

static struct group_sums sums_of(const struct report_group *group)
{
	struct group_sums sums = { 0 };

	for (size_t i = 0; i < group->row_count; i++) {
		sums.running_ns += group->threads[i].running_ns;
		sums.runnable_ns += group->threads[i].cpu_wait_ns;
		sums.blocked_ns += group->threads[i].blocked_ns;
	}
	return sums;
}

static void put_group(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_group *group = row->item;
	struct group_sums sums = sums_of(group);
	uint32_t end = label_end(context);

	page_color(page, PAGE_BOLD);
	if (group->is_start_function)
		page_put_function(page, group->name, end - page->column - 8);
	else
		page_put_name(page, group->name, end - page->column - 8);
	page_color(page, PAGE_PLAIN);
	page_put(page, context->has_unicode ? " ×" : " x");
	page_put_count(page, group->thread_count, 0);
	page_pad_to(page, end);
	put_time(page, group->cmetric_ns);
	put_time(page, sums.running_ns);
	put_time(page, sums.runnable_ns);
	put_time(page, sums.blocked_ns);
	page_put(page, "  ");
	(group->thread_count > 1 ? strip_put_group : strip_put_thread)(page, group->strip, context->report->strip_count,
								       page_room(page));
}

static int descending(uint64_t x, uint64_t y)
{
	return x < y ? 1 : x > y ? -1 : 0;
}

static int threads_by_running(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return descending(x->running_ns, y->running_ns);
}

static int threads_by_runnable(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return descending(x->cpu_wait_ns, y->cpu_wait_ns);
}

static int threads_by_blocked(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return descending(x->blocked_ns, y->blocked_ns);
}

static int threads_by_name(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;
	int order = strcmp(name_of(x), name_of(y));

	return order ? order : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int groups_by_running(const void *a, const void *b)
{
	return descending(sums_of(a).running_ns, sums_of(b).running_ns);
}

static int groups_by_runnable(const void *a, const void *b)
{
	return descending(sums_of(a).runnable_ns, sums_of(b).runnable_ns);
}

static int groups_by_blocked(const void *a, const void *b)
{
	return descending(sums_of(a).blocked_ns, sums_of(b).blocked_ns);
}

static int groups_by_name(const void *a, const void *b)
{
	const struct report_group *x = a, *y = b;

	return strcmp(x->name, y->name);
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

static void add_group_rows(struct rows *rows, const struct row *row)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_CMETRIC] = NULL,
		[SORT_RUNNING] = threads_by_running,
		[SORT_RUNNABLE] = threads_by_runnable,
		[SORT_BLOCKED] = threads_by_blocked,
		[SORT_NAME] = threads_by_name,
	};
	const struct report_group *group = row->item;
	const void *const *threads = rows_sorted(rows, group->threads, group->row_count, sizeof(*group->threads),
						 orders[rows_context(rows)->sort]);
	bool has_all = rows_filter_has(rows, group->name);
	char even[64];

	if (group->thread_count > 1 && group->imbalance > 1) {
		snprintf(even, sizeof(even), "largest: %.1f times the mean CMetric", group->imbalance);
		rows_add_text(rows, row, 0, even);
	}
	for (size_t i = 0; i < group->row_count; i++) {
		const struct report_thread *thread = threads[i];

		if (has_all || rows_filter_has(rows, thread->name))
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

void rows_add_groups(struct rows *rows, size_t count_max)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_CMETRIC] = NULL,
		[SORT_RUNNING] = groups_by_running,
		[SORT_RUNNABLE] = groups_by_runnable,
		[SORT_BLOCKED] = groups_by_blocked,
		[SORT_NAME] = groups_by_name,
	};
	const struct row_context *context = rows_context(rows);
	const struct report *report = context->report;
	const void *const *groups =
		rows_sorted(rows, report->groups, report->group_count, sizeof(*report->groups), orders[context->sort]);
	size_t shown = 0;
	char rest[64];

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = groups[i];

		if (!passes(rows, group))
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
				 .key = row_key(group->key, i),
			 });
	}
}

static void add_rows(struct rows *rows)
{
	rows_add_groups(rows, SIZE_MAX);
}

const struct tui_page threads_page = {
	.name = "THREADS",
	.sorts = sorts,
	.has_filter = true,
	.put_titles = row_put_thread_titles,
	.add_rows = add_rows,
};
