/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which waits the report is of, where it is of some alone. */
#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"

void text_put_names(struct page *page, struct text *text, const char *label, const char *const *names, size_t count)
{
	if (!count)
		return;
	text_put(text, text->length ? "; " : "");
	text_put(text, label);
	for (size_t i = 0; i < count; i++) {
		text_put(text, i ? ", " : " ");
		page_text_name(page, text, names[i]);
	}
}

static void show_sums(struct page *page, const struct report_choice *choice)
{
	struct text text = { 0 };

	text_put_duration(&text, choice->wait_ns);
	text_put(&text, " in ");
	text_put_count(&text, choice->waits);
	text_put(&text, choice->waits == 1 ? " wait, " : " waits, ");
	page_text_share(&text, choice->all_wait_ns ? (double)choice->wait_ns / choice->all_wait_ns : 0);
	text_put(&text, " of the time of all waits");
	if (choice->idle_ns) {
		text_put(&text, "; ");
		text_put_duration(&text, choice->idle_ns);
		text_put(&text, " idle");
	}
	if (choice->unnamed_ns) {
		text_put(&text, "; ");
		text_put_duration(&text, choice->unnamed_ns);
		text_put(&text, " more are for something without a name");
	}
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

void text_choice_show(struct page *page, const struct report *report)
{
	const struct report_choice *choice = report->choice;
	struct text text = { 0 };

	if (!choice)
		return;
	page_heading(page, "Chosen waits",
		     "findings, causes, what-if, waits, locks and files are of these; all else is of all");
	text_put_names(page, &text, "cause", choice->causes, choice->cause_count);
	text_put_names(page, &text, "object", choice->objects, choice->object_count);
	text_put_names(page, &text, "threads", choice->waiters, choice->waiter_count);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
	show_sums(page, choice);
}
