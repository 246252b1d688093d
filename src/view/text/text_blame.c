/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost time by cause, each with the ways that led to it. */
#include <stdio.h>

#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"

static void show_chain(struct page *page, const struct report_root_chain *chain)
{
	struct text text = { 0 };

	text_put_duration(&text, chain->ns);
	text_put(&text, " came so: ");
	for (size_t i = 0; i < chain->step_count; i++) {
		text_put(&text, i ? ", behind it " : "");
		page_text_name(page, &text, chain->steps[i]);
	}
	page_paragraph(page, "       ", text.bytes);
	text_fini(&text);
}

static void show_root(struct page *page, const struct report_blame *blame, const struct report_root *root, size_t rank)
{
	struct text text = { 0 };
	char label[32];

	snprintf(label, sizeof(label), "%3zu  ", rank);
	page_text_share(&text, blame->lost_ns ? (double)root->ns / blame->lost_ns : 0);
	text_put(&text, ", ");
	text_put_duration(&text, root->ns);
	if (root->error_ns) {
		text_put(&text, " +- ");
		text_put_duration(&text, root->error_ns);
	}
	text_put(&text, ": ");
	page_text_name(page, &text, root->text);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, label, text.bytes);
	for (size_t i = 0; i < root->chain_count; i++)
		if (root->chains[i].step_count > 1)
			show_chain(page, &root->chains[i]);
	text_fini(&text);
}

void text_blame_show(struct page *page, const struct report *report)
{
	const struct report_blame *blame = &report->blame;

	if (!blame->root_count)
		return;
	page_heading(
		page, "Lost time by cause",
		blame->followed_ns == blame->lost_ns
			? "each moment counts at the end of its chain of waits"
			: "each moment counts at the end of its chain of waits; small waits, not followed, are other causes");
	for (size_t i = 0; i < report->blame.root_count; i++)
		show_root(page, &report->blame, &report->blame.roots[i], i + 1);
}
