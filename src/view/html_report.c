/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html.h"

#include "base/json.h"
#include "base/text.h"
#include "findings/report.h"
#include "view/json_parts.h"
#include "view/page.h"
#include "view/text_sections.h"
#include "view/timelines.h"
#include "view/view.h"

/* The words of the text's verdict, so that both say the same. */
static void put_verdict(struct text *out, const struct report *report)
{
	struct view_style style = { .has_unicode = true };
	struct text words = { 0 }, unused = { 0 };
	struct page page;
	struct json json;

	page_init(&page, &style, &unused);
	text_verdict_say(&page, report, &words);
	json_init(&json, out);
	json_begin_object(&json);
	json_put_string(&json, "words", words.bytes);
	json_end_object(&json);
	json_fini(&json);
	page_fini(&page);
	text_fini(&words);
	text_fini(&unused);
}

static void put_klocks(struct text *out, const struct report *report)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "duration_ns", report->target.wall_ns);
	json_put_klock_members(&json, report);
	json_end_object(&json);
	json_fini(&json);
}

/* There may be so many locks of the kernel that they must not keep the rest from being shown. */
void html_add_report(struct html *html, const struct report *report)
{
	struct report rest = *report;

	rest.klocks = (struct report_klocks){ 0 };
	json_view.show(&rest, &(struct view_style){ 0 }, html_part(html, "report"));
	if (report->klocks.waits)
		put_klocks(html_part(html, "klock"), report);
	put_verdict(html_part(html, "verdict"), report);
	if (report->strip_count && !html_has_part(html, "timelines"))
		timelines_put_report(html_part(html, "timelines"), report);
}
