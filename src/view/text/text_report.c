/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text view: a report for a human in a hurry, the verdict first. */
#include <string.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { PROGRAMS_SHOWN = 3 };

static void put_pids(struct text *text, const struct report *report)
{
	size_t shown = report->target.pid_count < 8 ? report->target.pid_count : 8;

	text_put(text, !shown ? "no process" : shown > 1 ? "processes" : "process");
	for (size_t i = 0; i < shown; i++)
		text_printf(text, "%s %u", i ? "," : "", report->target.pids[i]);
	if (report->target.pid_count > shown)
		text_printf(text, " and %zu more", report->target.pid_count - shown);
}

/* Whether a thread of that name is the first one of its process in a row before. */
static bool is_named_before(const struct report *report, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (report->threads[k].host_tid == report->threads[k].host_pid &&
		    !strcmp(report->threads[k].name, report->threads[i].name))
			return true;
	return false;
}

/* What the processes are called that were attached to: "mariadbd, nginx and others". */
static void put_programs(struct page *page, struct text *text, const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (thread->host_tid != thread->host_pid || is_named_before(report, i))
			continue;
		if (count == PROGRAMS_SHOWN) {
			text_put(text, " and others");
			return;
		}
		text_put(text, count++ ? ", " : " ");
		page_text_name(page, text, thread->name);
	}
}

static void show_target(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	if (report->target.command && *report->target.command)
		page_text_name(page, &text, report->target.command);
	else
		put_pids(&text, report);
	text_put(&text, report->target.exit_status >= 0 ? " (ran " : " (traced");
	if (report->target.exit_status < 0) {
		put_programs(page, &text, report);
		text_put(&text, " for ");
	}
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
	text_activities_show(page, report);
	text_hints_show(page, report, SIZE_MAX);
	text_waits_show(page, report);
	text_locks_show(page, report);
	text_goroutines_show(page, report);
	text_loops_show(page, report);
	text_klocks_show(page, report);
	text_io_show(page, report);
	text_listeners_show(page, report);
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
	text_choice_show(&page, report);
	text_parts_show(&page, report);
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
