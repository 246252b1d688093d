/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is most critical of each kind: functions, single unlocks, single actions on files. */
#include <string.h>

#include "report/report.h"
#include "report/report_cause.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { ROWS_MAX = 10 };

void text_put_hot_function(struct page *page, const struct report_hot_function *hot)
{
	const struct report_line *line = hot->function.lines;

	page_put_duration(page, hot->cmetric_ns, 9);
	page_put_count(page, hot->function.samples, 9);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	page_put_function(page, hot->function.name, page_columns_left(page) / 2);
	page_color(page, PAGE_DIM);
	if (hot->function.stack_tops && page_columns_left(page) > 30) {
		page_put(page, "  ");
		if (hot->function.stack_tops < hot->function.samples) {
			page_put_count(page, hot->function.stack_tops, 0);
			page_put(page, " ");
		}
		page_put(page, "stack top");
	}
	if (hot->function.line_count && line->file && page_columns_left(page) > 12) {
		page_put(page, "  ");
		page_put_location(page, line->file, line->line, page_columns_left(page));
	}
}

static void show_titles(struct page *page, const char *titles)
{
	page_color(page, PAGE_DIM);
	page_put(page, titles);
	page_end_line(page);
}

static void show_functions(struct page *page, const struct report *report)
{
	if (!report->hot_function_count)
		return;
	page_heading(page, "Most critical functions and lines", NULL);
	show_titles(page, "  CMetric  samples  function");
	for (size_t i = 0; i < report->hot_function_count && i < ROWS_MAX; i++) {
		text_put_hot_function(page, &report->hot_functions[i]);
		page_end_line(page);
	}
}

static void put_figures(struct page *page, uint64_t worst_ns, uint64_t sum_ns, uint64_t count)
{
	page_put_duration(page, worst_ns, 9);
	page_put_duration(page, sum_ns, 9);
	page_put_count(page, count, 8);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
}

static void show_unlocks(struct page *page, const struct report *report)
{
	if (!report->unlock_count)
		return;
	page_heading(page, "Most critical single unlocks", NULL);
	show_titles(page, "    worst      sum   times  released by");
	for (size_t i = 0; i < report->unlock_count && i < ROWS_MAX; i++) {
		const struct report_waker *unlocker = &report->unlocks[i];

		put_figures(page, unlocker->cmetric_max_ns, unlocker->cmetric_ns, unlocker->waits);
		text_put_headline(page, unlocker->frames, unlocker->frame_count, page->style->fold);
		page_end_line(page);
	}
}

static void show_action(struct page *page, const struct report_wait *wait)
{
	char cause[REPORT_CAUSE_BYTES];

	put_figures(page, wait->cmetric_max_ns, wait->cmetric_ns, wait->waits);
	page_put_path(page,
		      wait->worst_object ? wait->worst_object : report_cause_text(cause, wait->cause, wait->syscall),
		      page_columns_left(page) / 2);
	page_color(page, PAGE_PLAIN);
	page_put(page, "  ");
	text_put_headline(page, wait->frames, wait->frame_count, page->style->fold);
	page_end_line(page);
}

/* The most critical one of those behind the one before; what is as critical keeps its order. */
static const struct report_wait *next_action(const struct report *report, const struct report_wait *before)
{
	const struct report_wait *next = NULL;

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		bool is_behind = !before || wait->cmetric_max_ns < before->cmetric_max_ns ||
				 (wait->cmetric_max_ns == before->cmetric_max_ns && wait > before);

		if (wait->group != GROUP_IO || !wait->cmetric_max_ns || !is_behind)
			continue;
		if (!next || wait->cmetric_max_ns > next->cmetric_max_ns)
			next = wait;
	}
	return next;
}

static void show_actions(struct page *page, const struct report *report)
{
	const struct report_wait *wait = NULL;

	for (size_t shown = 0; shown < ROWS_MAX && (wait = next_action(report, wait)); shown++) {
		if (!shown) {
			page_heading(page, "Most critical file actions", NULL);
			show_titles(page, "    worst      sum   times  file, and its worst path");
		}
		show_action(page, wait);
	}
}

void text_summary_show(struct page *page, const struct report *report)
{
	show_functions(page, report);
	show_unlocks(page, report);
	show_actions(page, report);
}
