/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets at which connections are taken, and how many waited there. */
#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { LISTENERS_MAX = 8 };

static void put_queue(struct text *text, const struct report_listener *listener)
{
	if (listener->drops) {
		text_put_count(text, listener->drops);
		text_put(text, " dropped; ");
	}
	if (!listener->waiting_looks) {
		text_put(text, "none waited at any of ");
		text_put_count(text, listener->looks);
		text_put(text, " looks; ");
	} else {
		text_printf(text, "%.1f waited on average, ", listener->waiting);
		text_put_count(text, listener->waiting_max);
		text_put(text, " at most, at ");
		text_put_count(text, listener->waiting_looks);
		text_put(text, " of ");
		text_put_count(text, listener->looks);
		text_put(text, " looks; ");
	}
	text_put_count(text, listener->capacity);
	text_put(text, " can wait");
}

static void show_listener(struct page *page, const struct report_listener *listener)
{
	struct text text = { 0 };

	page_text_name(page, &text, listener->name);
	text_printf(&text, " (%u", listener->pid);
	if (listener->processes > 1) {
		text_put(&text, " and ");
		text_put_count(&text, listener->processes - 1);
		text_put(&text, " more");
	}
	text_put(&text, ")");
	if (listener->address) {
		text_put(&text, " at ");
		page_text_name(page, &text, listener->address);
	}
	text_put(&text, ": ");
	put_queue(&text, listener);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

void text_listeners_show(struct page *page, const struct report *report)
{
	size_t shown = report->listener_count;

	if (!shown)
		return;
	if (!page->style->is_verbose && shown > LISTENERS_MAX)
		shown = LISTENERS_MAX;
	page_heading(page, "Accept queues", "connections that wait to be accepted");
	for (size_t i = 0; i < shown; i++)
		show_listener(page, &report->listeners[i]);
	if (shown == report->listener_count)
		return;
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put_ellipsis(page);
	page_printf(page, " %zu more", report->listener_count - shown);
	page_end_line(page);
}
