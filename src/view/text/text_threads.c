/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads by CMetric, in their groups: a line of one character a thread shows a group's
 * balance at a glance, bars show its largest threads. All share one scale.
 */
#include "view/text/text_sections.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/whole.h"
#include "report/report.h"
#include "session/hosts.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/thread_columns.h"
#include "view/view.h"

enum { GROUPS_MAX = 12, GROUP_ROWS_MAX = 8, GROUP_ROWS_MIN = 2, ROWS_MAX = 24 };
enum { WIDE_COLUMNS = 96, TIME_COLUMNS = 9, BAR_COLUMNS_MAX = 60 };

/* The largest thread over the mean: below the one nothing to say, above the other a warning. */
static const double even_max = 1.15, uneven_min = 1.3;

struct columns {
	uint32_t label, cmetric, share, times, picture; /* where each begins, except for label */
	bool is_wide;
};

static struct columns columns_of(const struct page *page)
{
	bool is_wide = page->width >= WIDE_COLUMNS;
	uint32_t label = page->width < 80 ? 28 : page->width >= 140 ? 44 : 32;

	return (struct columns){
		.label = label,
		.cmetric = label,
		.share = label + 10,
		.times = label + 20,
		.picture = label + 22 + (is_wide ? (THREAD_COLUMNS - 1) * TIME_COLUMNS : 0),
		.is_wide = is_wide,
	};
}

/* A row may stand for several dead threads: pictures show their mean. */
static double thread_height(const struct report_thread *thread)
{
	return thread->thread_count > 1 ? (double)thread->cmetric_ns / thread->thread_count : thread->cmetric_ns;
}

static int by_tid(const void *a, const void *b)
{
	const struct report_thread *left = *(const struct report_thread *const *)a;
	const struct report_thread *right = *(const struct report_thread *const *)b;

	return (left->tid > right->tid) - (left->tid < right->tid);
}

/* In the order of their ids, which is that of birth: ranks and stages keep their places. */
static void put_balance(struct page *page, const struct report_group *group, double max)
{
	const struct report_thread **order = xcalloc(group->row_count, sizeof(*order));
	double *heights = xcalloc(group->row_count, sizeof(*heights));

	for (size_t i = 0; i < group->row_count; i++)
		order[i] = &group->threads[i];
	qsort(order, group->row_count, sizeof(*order), by_tid);
	for (size_t i = 0; i < group->row_count; i++)
		heights[i] = thread_height(order[i]);
	page_color(page, PAGE_CYAN);
	bars_put_sparkline(page, heights, group->row_count, max, page_columns_left(page));
	page_color(page, PAGE_PLAIN);
	free(order);
	free(heights);
}

static void put_bar(struct page *page, const struct report_thread *thread, double max)
{
	double height = thread_height(thread);
	uint64_t runqueue_ns =
		thread->cmetric_ns > thread->cmetric_oncpu_ns ? thread->cmetric_ns - thread->cmetric_oncpu_ns : 0;

	bars_put_two(page, max > 0 ? height / max : 0,
		     thread->cmetric_ns ? (double)runqueue_ns / thread->cmetric_ns : 0,
		     page_columns_left(page) < BAR_COLUMNS_MAX ? page_columns_left(page) : BAR_COLUMNS_MAX);
}

static void put_numbers(struct page *page, const struct report *report, uint64_t cmetric_ns)
{
	struct columns columns = columns_of(page);

	page_pad_to(page, columns.cmetric);
	page_put_duration(page, cmetric_ns, columns.share - columns.cmetric);
	page_put_share(page, (double)cmetric_ns / report->target.wall_ns, columns.times - columns.share);
}

static void put_evenness(struct page *page, const struct report_group *group)
{
	if (group->imbalance >= 1000)
		page_put(page, "one carries it all");
	else if (group->imbalance >= even_max)
		page_printf(page, "largest is %.*fx the mean", group->imbalance < 100, group->imbalance);
	else
		page_put(page, "even");
}

/* Nothing is quieter than "0 ns". */
static void put_time(struct page *page, uint64_t time_ns)
{
	if (time_ns)
		page_put_duration(page, time_ns, TIME_COLUMNS);
	else
		page_printf(page, "%*s", TIME_COLUMNS, "-");
}

/* The columns behind that of the CMetric, which has a place of its own. */
static void put_times(struct page *page, const struct report_thread *thread)
{
	uint64_t count = thread->thread_count > 1 ? thread->thread_count : 1;

	for (size_t i = THREAD_COLUMN_cmetric_ns + 1; i < THREAD_COLUMNS; i++)
		put_time(page, thread_column_ns(thread, i) / count);
}

static void show_titles(struct page *page)
{
	struct columns columns = columns_of(page);

	page_color(page, PAGE_DIM);
	page_pad_to(page, columns.cmetric);
	page_printf(page, "%*s%*s", columns.share - columns.cmetric, thread_columns[THREAD_COLUMN_cmetric_ns].title,
		    columns.times - columns.share, "of wall");
	for (size_t i = THREAD_COLUMN_cmetric_ns + 1; i < THREAD_COLUMNS && columns.is_wide; i++)
		page_printf(page, "%*s", TIME_COLUMNS, thread_columns[i].title);
	page_pad_to(page, columns.picture);
	if (page_columns_left(page) >= 19) {
		page_put(page, bars_first_glyph(page));
		page_put(page, " on CPU ");
		page_put(page, bars_second_glyph(page));
		page_put(page, " CPU wait");
	}
	page_end_line(page);
}

static void put_thread_label(struct page *page, const struct report_thread *thread)
{
	uint32_t end = columns_of(page).label - 2, host_tid = id_on_host(thread->host_tid);

	if (thread->thread_count > 1) {
		page_put(page, "    mean of ");
		page_put_count(page, thread->thread_count, 0);
		page_put(page, " ended");
		return;
	}
	if (columns_of(page).is_wide && host_tid && host_tid != thread->tid) /* in a container */
		page_printf(page, "    %u (host %u) ", thread->tid, host_tid);
	else
		page_printf(page, "    %-7u ", thread->tid);
	page_put_name(page, thread->title ? thread->title : thread->name ? thread->name : "", end - page->column);
}

static void show_thread(struct page *page, const struct report *report, const struct report_thread *thread, double max)
{
	struct columns columns = columns_of(page);

	put_thread_label(page, thread);
	put_numbers(page, report, whole(thread_height(thread)));
	if (columns.is_wide)
		put_times(page, thread);
	page_pad_to(page, columns.picture);
	put_bar(page, thread, max);
	page_end_line(page);
}

static void put_group_label(struct page *page, const struct report_group *group)
{
	uint32_t end = columns_of(page).label - 2, count_columns;

	page->scratch.length = 0;
	text_put_count(&page->scratch, group->thread_count);
	count_columns = page->scratch.length + 10; /* " threads" and two spaces */
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	if (group->is_start_function)
		page_put_function(page, group->name, end - count_columns - 2);
	else
		page_put_name(page, group->name, end - count_columns - 2);
	page_color(page, PAGE_PLAIN);
	page_put(page, "  ");
	page_put_count(page, group->thread_count, 0);
	page_put(page, group->thread_count == 1 ? " thread" : " threads");
}

static void show_group_line(struct page *page, const struct report *report, const struct report_group *group,
			    double max)
{
	struct columns columns = columns_of(page);
	bool is_one = group->row_count == 1;

	put_group_label(page, group);
	put_numbers(page, report, group->cmetric_ns);
	if (columns.is_wide && is_one && group->thread_count == 1) {
		put_times(page, group->threads);
	} else if (columns.is_wide && group->thread_count > 1) {
		page_put(page, "   ");
		page_color(page, group->imbalance >= uneven_min ? PAGE_YELLOW : PAGE_DIM);
		put_evenness(page, group);
	}
	page_pad_to(page, columns.picture);
	if (is_one)
		put_bar(page, group->threads, max);
	else if (group->row_count)
		put_balance(page, group, max);
	page_end_line(page);
	if (!columns.is_wide && group->thread_count > 1 && group->imbalance >= even_max) {
		page_color(page, PAGE_DIM);
		page_put(page, "    ");
		put_evenness(page, group);
		page_end_line(page);
	}
}

static void show_group(struct page *page, const struct report *report, const struct report_group *group, double max,
		       size_t rows_max)
{
	size_t shown = group->row_count;
	uint64_t thread_count = 0, cmetric_ns = 0;

	show_group_line(page, report, group, max);
	if (group->row_count <= 1)
		return;
	if (shown > rows_max + 1) /* a line for one row more would take as much room */
		shown = rows_max;
	for (size_t i = 0; i < shown; i++)
		show_thread(page, report, &group->threads[i], max);
	if (shown == group->row_count)
		return;
	for (size_t i = shown; i < group->row_count; i++) {
		thread_count += group->threads[i].thread_count > 1 ? group->threads[i].thread_count : 1;
		cmetric_ns += group->threads[i].cmetric_ns;
	}
	page_color(page, PAGE_DIM);
	page_put(page, "    ");
	page_put_ellipsis(page);
	page_put(page, " ");
	page_put_count(page, thread_count, 0);
	page_put(page, " more");
	put_numbers(page, report, cmetric_ns);
	page_end_line(page);
}

static void show_other_groups(struct page *page, const struct report *report, size_t begin)
{
	uint64_t thread_count = 0, cmetric_ns = 0;

	for (size_t i = begin; i < report->group_count; i++) {
		thread_count += report->groups[i].thread_count;
		cmetric_ns += report->groups[i].cmetric_ns;
	}
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put_ellipsis(page);
	page_printf(page, " %zu more, ", report->group_count - begin);
	page_put_count(page, thread_count, 0);
	page_put(page, " threads");
	put_numbers(page, report, cmetric_ns);
	page_end_line(page);
}

/* Above the first of a host's groups. */
static void show_host(struct page *page, const struct report *report, size_t first)
{
	const struct report_group *group = &report->groups[first];
	uint64_t thread_count = 0, cmetric_ns = 0;

	if (!group->host || (first && group[-1].host_number == group->host_number))
		return;
	for (size_t i = first; i < report->group_count && report->groups[i].host_number == group->host_number; i++) {
		thread_count += report->groups[i].thread_count;
		cmetric_ns += report->groups[i].cmetric_ns;
	}
	page_color(page, PAGE_BOLD);
	page_put_name(page, group->host, columns_of(page).label / 2);
	page_color(page, PAGE_PLAIN);
	page_put(page, ": ");
	page_put_count(page, thread_count, 0);
	page_put(page, thread_count == 1 ? " thread" : " threads");
	put_numbers(page, report, cmetric_ns);
	page_end_line(page);
}

static double highest_thread(const struct report *report)
{
	double max = 0;

	for (size_t i = 0; i < report->group_count; i++) {
		for (size_t j = 0; j < report->groups[i].row_count; j++) {
			double height = thread_height(&report->groups[i].threads[j]);

			max = height > max ? height : max;
		}
	}
	return max;
}

/* The screen is shared among the groups that have rows. */
static size_t rows_for_each_group(const struct report *report, size_t groups)
{
	size_t with_rows = 0, rows;

	for (size_t i = 0; i < groups; i++)
		with_rows += report->groups[i].row_count > 1;
	rows = with_rows ? ROWS_MAX / with_rows : ROWS_MAX;
	if (rows > GROUP_ROWS_MAX)
		rows = GROUP_ROWS_MAX;
	return rows > GROUP_ROWS_MIN ? rows : GROUP_ROWS_MIN;
}

void text_threads_show(struct page *page, const struct report *report)
{
	bool is_verbose = page->style->is_verbose;
	size_t groups = report->group_count, rows;
	double max = highest_thread(report);

	if (!groups || !report->target.wall_ns)
		return;
	if (groups > GROUPS_MAX + 1 && !is_verbose)
		groups = GROUPS_MAX;
	rows = is_verbose ? SIZE_MAX - 1 : rows_for_each_group(report, groups);
	page_heading(page, "Threads by CMetric", "a group's chart has one column per thread, by TID");
	show_titles(page);
	for (size_t i = 0; i < groups; i++) {
		show_host(page, report, i);
		show_group(page, report, &report->groups[i], max, rows);
	}
	if (groups < report->group_count)
		show_other_groups(page, report, groups);
}
