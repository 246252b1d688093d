/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where threads wait, why, and who ends it. */
#include <string.h>

#include "analysis/report.h"
#include "view/page.h"
#include "view/text_sections.h"
#include "view/view.h"

enum { WAITS_MAX = 8, WAKERS_MAX = 3, RANK_COLUMN = 4, DETAIL_COLUMN = 6 };

/* Smaller shares of all threads' time are left to the verbose report, but for the first one. */
static const double wait_share_min = 0.005, waker_share_min = 0.02;

static const char detail_indent[] = "      ";

void text_put_place(struct page *page, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = text_headline(frames, count, page->style->fold);

	if (frame)
		text_put_frame(page, frame, (page_room(page) * 3) / 5);
	else
		page_put(page, "stack not known");
}

static void show_summary(struct page *page, const struct report *report,
			 const struct report_wait *wait, size_t rank)
{
	page_printf(page, "%3zu ", rank);
	page_put_share(page, (double)wait->lost_ns / report->balance.thread_ns, 8);
	if (wait->is_estimated)
		page_put_estimate(page, wait->lost_ns, 11);
	else
		page_put_duration(page, wait->lost_ns, 11);
	page_put(page, "  ");
	page_color(page, PAGE_RED);
	page_put_name(page, wait->cause, page_room(page));
	page_color(page, PAGE_PLAIN);
	if (wait->object && page_room(page) > 30) {
		page_put(page, " ");
		page_put_path(page, wait->object, page_room(page) / 2);
	}
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	text_put_place(page, wait->frames, wait->frame_count);
	page_end_line(page);
}

static void show_counts(struct page *page, const struct report_wait *wait)
{
	struct text text = { 0 };

	text_put_count(&text, wait->count);
	text_put(&text, wait->count == 1 ? " wait of " : " waits of ");
	text_put_duration(&text, wait->count ? wait->lost_ns / wait->count : 0);
	if (wait->count > 1) {
		text_put(&text, " in the mean, ");
		text_put_duration(&text, wait->max_ns);
		text_put(&text, " at most");
	}
	if (wait->idle_ns) {
		text_put(&text, "; idle for ");
		page_text_share(&text, (double)wait->idle_ns / wait->lost_ns);
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, detail_indent, text.bytes);
	text_fini(&text);
}

static const char *meaning(const struct report_waker *waker)
{
	static const struct {
		const char *context, *words;
	} meanings[] = {
		{ "timer", "a timer: the time was over" },
		{ "disk", "the disk" },
		{ "network", "the network" },
		{ "interrupt", "an interrupt" },
		{ "none", "nothing: it lasts" },
		{ "lost", "something whose record was lost" },
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (!strcmp(waker->context, meanings[i].context))
			return meanings[i].words;
	return NULL;
}

static void show_waker(struct page *page, const struct report_waker *waker)
{
	const char *words = meaning(waker);

	page_pad_to(page, DETAIL_COLUMN);
	page_put_share(page, waker->share, 8);
	page_put(page, "  ended by ");
	if (words) {
		page_put_name(page, words, page_room(page));
		page_end_line(page);
		return;
	}
	page_put(page, !strcmp(waker->context, "exit") ? "the end of thread " :
		       !strcmp(waker->context, "process") ? "another program's thread " :
		       !strcmp(waker->context, "kernel") ? "the kernel's thread " :
		       !strcmp(waker->context, "signal") ? "a signal from thread " : "thread ");
	page_put_name(page, waker->name ? waker->name : "?", 18);
	if (waker->frame_count && page_room(page) > 20) {
		page_put(page, "  ");
		text_put_place(page, waker->frames, waker->frame_count);
	}
	page_end_line(page);
}

static void show_wait(struct page *page, const struct report *report,
		      const struct report_wait *wait, size_t rank)
{
	show_summary(page, report, wait, rank);
	show_counts(page, wait);
	for (size_t i = 0; i < wait->waker_count && (i < WAKERS_MAX || page->style->is_verbose); i++)
		if (!i || page->style->is_verbose || wait->wakers[i].share >= waker_share_min)
			show_waker(page, &wait->wakers[i]);
}

static void show_heading(struct page *page)
{
	page_heading(page, "Waits by lost time", "of all threads' time; those that are idle come last");
}

void text_waits_show(struct page *page, const struct report *report)
{
	size_t i = 0;

	if (!report->wait_count || !report->balance.thread_ns)
		return;
	show_heading(page);
	for (; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];

		if (i && !page->style->is_verbose &&
		    (i >= WAITS_MAX ||
		     wait->lost_ns < wait_share_min * report->balance.thread_ns))
			break;
		show_wait(page, report, wait, i + 1);
	}
	if (i < report->wait_count) {
		page_color(page, PAGE_DIM);
		page_pad_to(page, RANK_COLUMN);
		page_put_ellipsis(page);
		page_printf(page, " %zu more %s", report->wait_count - i,
			    report->wait_count - i == 1 ? "place" : "places");
		page_end_line(page);
	}
}

void text_waits_show_group(struct page *page, const struct report *report, const char *group)
{
	bool is_begun = false;

	for (size_t i = 0; i < report->wait_count && report->balance.thread_ns; i++) {
		if (strcmp(report->waits[i].group, group) != 0)
			continue;
		if (!is_begun)
			show_heading(page);
		is_begun = true;
		show_wait(page, report, &report->waits[i], i + 1);
	}
}
