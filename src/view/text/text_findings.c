/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands out, with what speaks for it. */
#include <stdio.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { FINDINGS_MAX = 6 };

static void show_finding(struct page *page, const struct report_finding *finding, size_t rank)
{
	struct text text = { 0 };
	char label[32];

	snprintf(label, sizeof(label), "%3zu  ", rank);
	page_text_share(&text, finding->share);
	text_put(&text, ": ");
	page_text_name(page, &text, finding->title);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, label, text.bytes);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		text.length = 0;
		page_text_name(page, &text, finding->evidence[i]);
		page_paragraph(page, "       ", text.bytes);
	}
	text_fini(&text);
}

void text_findings_show(struct page *page, const struct report *report)
{
	size_t count = report->finding_count;

	if (!count)
		return;
	if (count > FINDINGS_MAX && !page->style->is_verbose)
		count = FINDINGS_MAX;
	page_heading(page, "Findings", "share of non-idle thread time lost");
	for (size_t i = 0; i < count; i++)
		show_finding(page, &report->findings[i], i + 1);
	if (count < report->finding_count) {
		page_color(page, PAGE_DIM);
		page_pad_to(page, 4);
		page_put_ellipsis(page);
		page_printf(page, " %zu more", report->finding_count - count);
		page_end_line(page);
	}
}
