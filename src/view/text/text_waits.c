/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where threads wait, why, and who ends it. */
#include <string.h>

#include "report/report.h"
#include "report/report_cause.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { DETAIL_COLUMN = 6 };

static const char detail_indent[] = "      ";

static void show_summary(struct page *page, const struct report *report, const struct report_wait *wait, size_t rank)
{
	uint64_t real_ns = wait->wait_ns - wait->idle_ns;
	char cause[REPORT_CAUSE_BYTES];

	page_printf(page, "%3zu ", rank);
	if (real_ns)
		page_put_share(page, (double)real_ns / report->balance.threads.busy_ns, 8);
	else
		page_printf(page, "%8s", "idle");
	if (wait->is_estimated)
		page_put_estimate(page, real_ns ? real_ns : wait->wait_ns, 11);
	else
		page_put_duration(page, real_ns ? real_ns : wait->wait_ns, 11);
	page_put(page, "  ");
	page_color(page, PAGE_RED);
	page_put_name(page, report_cause_text(cause, wait->cause, wait->syscall), page_columns_left(page));
	page_color(page, PAGE_PLAIN);
	if ((wait->object || wait->lock_kind) && page_columns_left(page) > 30) {
		page_put(page, " ");
		if (wait->object)
			page_put_path(page, wait->object, page_columns_left(page) / 2);
		else
			page_put_name(page, wait->lock_kind, page_columns_left(page) / 2);
	}
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	text_put_headline(page, wait->frames, wait->frame_count, page->style->fold);
	page_end_line(page);
}

static void show_counts(struct page *page, const struct report_wait *wait)
{
	struct text text = { 0 };

	text_put_count(&text, wait->waits);
	text_put(&text, wait->waits == 1 ? " wait of " : " waits: mean ");
	text_put_duration(&text, wait->waits ? wait->wait_ns / wait->waits : 0);
	if (wait->waits > 1) {
		text_put(&text, ", max ");
		text_put_duration(&text, wait->max_ns);
	}
	if (wait->idle_ns && wait->idle_ns < wait->wait_ns) {
		text_put(&text, "; of them ");
		text_put_duration(&text, wait->idle_ns);
		text_put(&text, " idle, not counted here");
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, detail_indent, text.bytes);
	text_fini(&text);
}

static void show_wait(struct page *page, const struct report *report, const struct report_wait *wait, size_t rank)
{
	show_summary(page, report, wait, rank);
	show_counts(page, wait);
	text_put_blocked_on(page, wait->blocked_on, detail_indent);
	for (size_t i = 0; i < wait->waker_count; i++) {
		page_pad_to(page, DETAIL_COLUMN);
		text_put_waker(page, &wait->wakers[i], page->style->fold);
		page_end_line(page);
	}
}

static void show_heading(struct page *page)
{
	page_heading(page, "Waits by lost time", "share of non-idle thread time");
}

void text_waits_show(struct page *page, const struct report *report)
{
	if (!report->wait_count || !report->balance.threads.total_ns)
		return;
	show_heading(page);
	for (size_t i = 0; i < report->wait_count; i++)
		show_wait(page, report, &report->waits[i], i + 1);
}

void text_waits_show_group(struct page *page, const struct report *report, enum cause_group group)
{
	bool is_begun = false;

	for (size_t i = 0; i < report->wait_count && report->balance.threads.total_ns; i++) {
		if (report->waits[i].group != group)
			continue;
		if (!is_begun)
			show_heading(page);
		is_begun = true;
		show_wait(page, report, &report->waits[i], i + 1);
	}
}
