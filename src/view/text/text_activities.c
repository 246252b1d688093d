/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activities of programs' own events and of scripts. */
#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { ACTIVITIES_MAX = 4 };

static void show_columns(struct page *page)
{
	page_color(page, PAGE_DIM);
	page_put(page, "      total    count    median       p99   longest");
	page_end_line(page);
}

/* When the longest one was, of whom, and who found them. */
static void show_detail(struct page *page, const struct report_activity *activity)
{
	struct text text = { 0 };

	text_put(&text, "longest at ");
	text_put_duration(&text, activity->max_at_ns > 0 ? activity->max_at_ns : 0);
	if (activity->max_thread) {
		text_put(&text, " in ");
		page_text_name(page, &text, activity->max_thread);
		text_printf(&text, " (%u)", activity->max_tid);
	}
	text_put(&text, activity->script ? "; found by " : "; built in");
	if (activity->script)
		page_text_name(page, &text, activity->script);
	page_color(page, PAGE_DIM);
	page_paragraph(page, "            ", text.bytes);
	text_fini(&text);
}

static void show_activity(struct page *page, const struct report_activity *activity)
{
	page_pad_to(page, 2);
	page_put_duration(page, activity->total_ns, 9);
	page_put_count(page, activity->count, 9);
	page_put_duration(page, activity->p50_ns, 10);
	page_put_duration(page, activity->p99_ns, 10);
	page_put_duration(page, activity->max_ns, 10);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	page_put_name(page, activity->name, page_columns_left(page));
	page_end_line(page);
	if (page->style->is_verbose)
		show_detail(page, activity);
}

void text_activities_show(struct page *page, const struct report *report)
{
	size_t shown = report->activity_count;

	if (!shown)
		return;
	if (!page->style->is_verbose && shown > ACTIVITIES_MAX)
		shown = ACTIVITIES_MAX;
	page_heading(page, "Activities", "from one event to another; each: pinch dump --activities");
	show_columns(page);
	for (size_t i = 0; i < shown; i++)
		show_activity(page, &report->activities[i]);
	if (shown == report->activity_count)
		return;
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put_ellipsis(page);
	page_printf(page, " %zu more", report->activity_count - shown);
	page_end_line(page);
}
