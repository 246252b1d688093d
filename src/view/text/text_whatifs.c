/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What would have made the run shorter. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"

enum { NAME_COLUMNS = 40 };

static void put_what(const struct page *page, struct text *text, const struct report_whatif *whatif)
{
	bool is_function = !strcmp(whatif->kind, "function"), is_lock = !strcmp(whatif->kind, "lock");

	if (!strcmp(whatif->kind, "cpus")) {
		text_printf(text, "on %s CPUs", whatif->name);
		return;
	}
	text_put(text, is_function ? "" : is_lock ? "waits for " : "waits in ");
	page_text_function(page, text, whatif->name, NAME_COLUMNS);
	text_put(text, is_function ? " twice as fast" : " half as long");
}

static void show_whatif(struct page *page, const struct report_whatif *whatif, size_t rank)
{
	struct text text = { 0 };
	char label[32];

	snprintf(label, sizeof(label), "%3zu  ", rank);
	text_put_duration(&text, whatif->run_ns);
	text_put(&text, " -> ");
	text_put_duration(&text, whatif->predicted_ns);
	if (whatif->least_ns != whatif->most_ns) {
		text_put(&text, " (");
		text_put_duration(&text, whatif->least_ns);
		text_put(&text, " to ");
		text_put_duration(&text, whatif->most_ns);
		text_put(&text, ")");
	}
	text_put(&text, ": ");
	put_what(page, &text, whatif);
	page_paragraph(page, label, text.bytes);
	text_fini(&text);
}

void text_whatifs_show(struct page *page, const struct report *report)
{
	if (!report->whatif_count)
		return;
	page_heading(page, "What if", "each alone, predicted by a replay of the run");
	for (size_t i = 0; i < report->whatif_count; i++)
		show_whatif(page, &report->whatifs[i], i + 1);
}
