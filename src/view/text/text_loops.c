/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event loops: how long their iterations take, and what they do in the long ones. */
#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { LOOPS_MAX = 8 };

static double busy_share(const struct report_event_loop *loop)
{
	double all_ns = loop->polled_ns + loop->work->ns;

	return all_ns > 0 ? loop->work->ns / all_ns : 0;
}

/* label: "long ones", what it did in them. */
static void show_work(struct page *page, const char *label, const struct report_blocked_on *work)
{
	struct text text = { 0 };

	if (!work || !work->text)
		return;
	text_put(&text, label);
	text_put(&text, ": ");
	page_text_name(page, &text, work->text);
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

static void show_long(struct page *page, const struct report_event_loop *loop)
{
	struct text label = { 0 };

	if (!loop->long_iterations)
		return;
	text_put_count(&label, loop->long_iterations);
	text_put(&label, " of ");
	text_put_duration(&label, loop->long_min_ns);
	text_put(&label, " and more");
	if (2 * loop->short_turn_samples > loop->turn_samples)
		text_put(&label, ", of several turns each");
	show_work(page, label.bytes, loop->long_work);
	label.length = 0;
	text_put(&label, "the longest one, at ");
	text_put_duration(&label, loop->max_at_ns);
	show_work(page, label.bytes, loop->longest);
	text_fini(&label);
}

static void put_up_to(struct text *text, const char *what, uint64_t length_ns)
{
	text_put(text, what);
	text_put_duration(text, length_ns);
}

static void put_unread(struct text *text, const struct report_event_loop *loop)
{
	if (!loop->unread_looks)
		return;
	text_put(text, "; input lay unread at ");
	text_put_count(text, loop->unread_looks);
	text_put(text, " of ");
	text_put_count(text, loop->looks);
	text_put(text, " looks, some for more than ");
	text_put_duration(text, loop->unread_ns);
}

static void show_loop(struct page *page, const struct report_event_loop *loop)
{
	struct text text = { 0 };

	page_text_name(page, &text, loop->name);
	text_printf(&text, " (%u), by ", loop->tid);
	page_text_name(page, &text, loop->syscall);
	text_put(&text, ": ");
	text_put_count(&text, loop->iterations);
	put_up_to(&text, " iterations, half of them up to ", loop->p50_ns);
	put_up_to(&text, ", 99 % up to ", loop->p99_ns);
	put_up_to(&text, ", the longest one ", loop->max_ns);
	text_put(&text, "; busy for ");
	page_text_share(&text, busy_share(loop));
	text_put(&text, " of its time");
	put_unread(&text, loop);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
	show_work(page, "all", loop->work);
	show_long(page, loop);
}

void text_loops_show(struct page *page, const struct report *report)
{
	size_t shown = report->event_loop_count;

	if (!shown)
		return;
	if (!page->style->is_verbose && shown > LOOPS_MAX)
		shown = LOOPS_MAX;
	page_heading(page, "Event loops", "from one poll that blocked to the next one");
	for (size_t i = 0; i < shown; i++)
		show_loop(page, &report->event_loops[i]);
	if (shown == report->event_loop_count)
		return;
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put_ellipsis(page);
	page_printf(page, " %zu more", report->event_loop_count - shown);
	page_end_line(page);
}
