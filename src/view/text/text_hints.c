/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is unusual among programs' own events. */
#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"

static void put_what(struct page *page, struct text *text, const struct report_hint *hint)
{
	page_text_name(page, text, hint->name);
	switch (hint->kind) {
	case HINT_UNENDED:
		text_put(text, ": ");
		text_put_count(text, hint->count);
		text_put(text, hint->count == 1 ? " has no end, and " : " have no end, and ");
		text_put_count(text, hint->others);
		text_put(text, " have");
		break;
	case HINT_ORDER:
		text_put(text, hint->count == 1 ? ": once, and " : ": twice, and ");
		text_put_count(text, hint->others);
		text_put(text, " times something else followed");
		break;
	case HINT_LENGTH:
		text_put(text, ": one of ");
		text_put_count(text, hint->others + 1);
		text_put(text, " took ");
		text_put_duration(text, hint->ns);
		text_put(text, ", 99 % take ");
		text_put_duration(text, hint->usual_ns);
		text_put(text, " at most");
		break;
	case HINT_SILENCE:
		text_put(text, ": none for ");
		text_put_duration(text, hint->ns);
		text_put(text, ", where 99 % follow each other within ");
		text_put_duration(text, hint->usual_ns);
		break;
	case HINT_BURST:
		text_put(text, ": ");
		text_put_count(text, hint->count);
		text_put(text, " within ");
		text_put_duration(text, hint->ns);
		text_put(text, ", far more than at other times");
		break;
	}
}

static void show_hint(struct page *page, const struct report_hint *hint)
{
	struct text text = { 0 };

	put_what(page, &text, hint);
	text_put(&text, "; at ");
	text_put_duration(&text, hint->at_ns > 0 ? hint->at_ns : 0);
	if (hint->thread) {
		text_put(&text, " in ");
		page_text_name(page, &text, hint->thread);
		text_printf(&text, " (%u)", hint->tid);
	}
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

void text_hints_show(struct page *page, const struct report *report, size_t shown_max)
{
	size_t shown = report->hint_count < shown_max ? report->hint_count : shown_max;

	if (!shown)
		return;
	page_heading(page, "Unusual", "among programs' own events");
	for (size_t i = 0; i < shown; i++)
		show_hint(page, &report->hints[i]);
}
