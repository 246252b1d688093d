/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text view: a report for a human in a hurry, the verdict first. */
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

static void put_pids(struct text *text, const struct report *report)
{
	size_t shown = report->target.pid_count < 8 ? report->target.pid_count : 8;

	text_put(text, !shown ? "no process" : shown > 1 ? "processes" : "process");
	for (size_t i = 0; i < shown; i++)
		text_printf(text, "%s %u", i ? "," : "", report->target.pids[i]);
	if (report->target.pid_count > shown)
		text_printf(text, " and %zu more", report->target.pid_count - shown);
}

static void show_target(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	if (report->target.command && *report->target.command)
		page_text_name(page, &text, report->target.command);
	else
		put_pids(&text, report);
	text_put(&text, report->target.exit_status >= 0 ? " (ran " : " (traced for ");
	text_put_duration(&text, report->target.wall_ns);
	if (report->target.exit_status >= 0)
		text_printf(&text, ", exit status %d", report->target.exit_status);
	if (report->target.is_running)
		text_put(&text, ", still running");
	text_put(&text, ")");
	page_color(page, PAGE_DIM);
	page_paragraph(page, "pinch: ", text.bytes);
	page_end_line(page);
	text_fini(&text);
}

static void show_all(struct page *page, const struct report *report)
{
	text_details_show(page, report);
	text_balance_show(page, report);
	text_parallel_show(page, report);
	text_findings_show(page, report);
	if (page->style->is_verbose)
		text_blame_show(page, report);
	text_whatifs_show(page, report);
	text_waits_show(page, report);
	text_locks_show(page, report);
	text_goroutines_show(page, report);
	text_klocks_show(page, report);
	text_io_show(page, report);
	text_paths_show(page, report);
	text_functions_show(page, report);
	text_stalls_show(page, report);
	text_threads_show(page, report);
}

static void text_show(const struct report *report, const struct view_style *style, struct text *out)
{
	struct page page;

	page_init(&page, style, out);
	show_target(&page, report);
	text_verdict_show(&page, report);
	if (style->pages)
		text_pages_show(&page, report);
	else if (style->is_verbose)
		show_all(&page, report);
	else
		text_brief_show(&page, report);
	if (style->pages || style->is_verbose)
		text_totals_show(&page, report);
	page_fini(&page);
}

const struct view text_view = {
	.name = "text",
	.summary = "for reading: verdict, call paths, threads",
	.show = text_show,
};
