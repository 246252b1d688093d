/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the time of all threads went: the account that adds up to their lives. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { LABEL_COLUMNS = 18, PICTURE_COLUMNS_MAX = 40 };

/* Below this share a cause has no line of its own, but in the verbose report. */
static const double share_min = 0.001;

static void show_row(struct page *page, const struct report *report, const char *label, enum page_color color,
		     uint64_t time_ns)
{
	double share = (double)time_ns / report->balance.threads.total_ns;
	uint32_t columns = page->width > 96 ? PICTURE_COLUMNS_MAX : page->width - 56;

	page_pad_to(page, 2);
	page_put(page, label);
	page_pad_to(page, 2 + LABEL_COLUMNS);
	page_color(page, color);
	bars_put(page, share, columns);
	page_color(page, PAGE_PLAIN);
	page_put_share(page, share, 9);
	page_put_duration(page, time_ns, 11);
}

/* Of the call that "other" mostly is, the name; else the cause. */
static void put_label(char label[LABEL_COLUMNS], const struct report *report, const struct report_cause *cause)
{
	uint64_t longest_ns = cause->wait_ns / 2;

	snprintf(label, LABEL_COLUMNS, "%s", wait_cause_name(cause->cause));
	for (size_t i = 0; i < report->wait_count && cause->cause == CAUSE_OTHER; i++) {
		const struct report_wait *wait = &report->waits[i];

		if (wait->cause != CAUSE_OTHER || wait->wait_ns <= longest_ns)
			continue;
		snprintf(label, LABEL_COLUMNS, "%s", wait->syscall ? wait->syscall : "no system call");
		longest_ns = wait->wait_ns;
	}
}

static void show_cause(struct page *page, const struct report *report, const struct report_cause *cause)
{
	char label[LABEL_COLUMNS];

	put_label(label, report, cause);
	show_row(page, report, label, PAGE_RED, cause->wait_ns);
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put_count(page, cause->waits, 0);
	page_put(page, cause->waits == 1 ? " wait" : " waits");
	if (cause->idle_ns && page_columns_left(page) > 16) {
		page_put(page, ", idle ");
		page_put_share(page, (double)cause->idle_ns / cause->wait_ns, 0);
	}
	page_end_line(page);
}

void text_balance_show(struct page *page, const struct report *report)
{
	struct text text = { 0 };
	uint64_t rest_ns = 0;

	if (!report->balance.threads.total_ns)
		return;
	text_put_duration(&text, report->balance.threads.total_ns);
	text_put(&text, " in total; all but running is lost parallelism");
	page_heading(page, "Time of all threads", text.bytes);
	text_fini(&text);
	show_row(page, report, "running", PAGE_GREEN, report->balance.threads.running_ns);
	page_end_line(page);
	if (report->balance.threads.spinning_ns >= share_min * report->balance.threads.total_ns) {
		show_row(page, report, "  of it spinning", PAGE_RED, report->balance.threads.spinning_ns);
		page_end_line(page);
	}
	show_row(page, report, "waiting for a CPU", PAGE_YELLOW,
		 report->balance.threads.cpu_wait_ns - report->balance.threads.throttled_ns);
	page_end_line(page);
	if (report->balance.threads.throttled_ns) {
		show_row(page, report, "throttled", PAGE_YELLOW, report->balance.threads.throttled_ns);
		page_end_line(page);
	}
	for (size_t i = 0; i < report->balance.threads.cause_count; i++) {
		const struct report_cause *cause = &report->balance.threads.causes[i];

		if (cause->is_active)
			continue; /* has its line already */
		if (!page->style->is_verbose && cause->wait_ns < share_min * report->balance.threads.total_ns)
			rest_ns += cause->wait_ns;
		else
			show_cause(page, report, cause);
	}
	if (rest_ns) {
		show_row(page, report, "other waits", PAGE_RED, rest_ns);
		page_end_line(page);
	}
}
