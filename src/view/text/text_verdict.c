/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict, as it was found: a paragraph for each of its lines. */
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"

void text_verdict_show(struct page *page, const struct report *report)
{
	const struct report_verdict *verdict = &report->verdict;
	struct text text = { 0 };

	for (size_t i = 0; i < verdict->line_count; i++) {
		text.length = 0;
		page_text_name(page, &text, verdict->lines[i]);
		page_color(page, i ? PAGE_PLAIN : PAGE_BOLD);
		page_paragraph(page, "", text.bytes);
	}
	if (report->losses.records || report->losses.gaps) {
		page_color(page, PAGE_YELLOW);
		page_paragraph(page, "", "Events were lost (see below): all figures are approximate.");
	}
	text_fini(&text);
}
