/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page that says what to know first: the verdict, and what is most critical of each kind. */
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_cause.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_balance.h"
#include "tui/rows/rows_paths.h"
#include "tui/rows/rows_stack.h"
#include "tui/rows/rows_threads.h"
#include "tui/rows/rows_waits.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"

enum { CAUSES_MAX = 4, FUNCTIONS_MAX = 5, ACTIONS_MAX = 5, GROUPS_MAX = 5 };

/* Where the numbers of each section's rows begin. */
enum {
	NUMBER_VERDICT = 0,
	NUMBER_BALANCE = 1000,
	NUMBER_FUNCTIONS = 2000,
	NUMBER_UNLOCKS = 3000,
	NUMBER_ACTIONS = 4000,
	NUMBER_THREADS = 5000,
	NUMBER_DETAILS = 5900,
	NUMBER_TOTALS = 6000,
};

static void put_hot(struct page *page, const struct row *row, const struct row_context *context __attribute__((unused)))
{
	text_put_hot_function(page, row->item);
}

static void put_line(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	const struct report_line *line = row->item;

	page_pad_to(page, page->column + 7);
	page_put_count(page, line->samples, 9);
	page_put(page, "  ");
	page_put_location(page, line->file ? line->file : "", line->line, page_columns_left(page));
}

static const struct row_kind line_kind = { put_line, NULL };

static void add_lines(struct rows *rows, const struct row *row)
{
	const struct report_hot_function *hot = row->item;

	for (size_t i = 0; i < hot->function.line_count; i++)
		rows_add(rows, row,
			 (struct row){
				 .kind = &line_kind,
				 .key = i,
				 .item = &hot->function.lines[i],
			 });
}

static const struct row_kind hot_kind = { put_hot, add_lines };

static uint64_t hash_string(const char *string)
{
	uint64_t hash = 1;

	for (; *string; string++)
		hash = hash * 31 + (unsigned char)*string;
	return hash;
}

static void add_functions(struct rows *rows, const struct report *report)
{
	if (!report->hot_function_count)
		return;
	rows_add_heading(rows, NUMBER_FUNCTIONS, "Most critical functions and lines");
	rows_add_text(rows, NULL, NUMBER_FUNCTIONS + 1, "  CMetric  samples  function");
	for (size_t i = 0; i < report->hot_function_count && i < FUNCTIONS_MAX; i++) {
		const struct report_hot_function *hot = &report->hot_functions[i];

		rows_add(rows, NULL,
			 (struct row){
				 .kind = &hot_kind,
				 .item = hot,
				 .key = hash_string(hot->function.name),
				 .can_unfold = hot->function.line_count > 0,
			 });
	}
}

static void add_unlocks(struct rows *rows, const struct report *report)
{
	if (!report->unlock_count)
		return;
	rows_add_heading(rows, NUMBER_UNLOCKS, "Most critical single unlocks");
	rows_add_text(rows, NULL, NUMBER_UNLOCKS + 1, "    worst      sum   times  released by");
	for (size_t i = 0; i < report->unlock_count && i < ACTIONS_MAX; i++)
		rows_add_unlocker(rows, NULL, &report->unlocks[i], i);
}

static void put_action(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_wait *wait = row->item;
	const struct report_frame *frame = text_headline(wait->frames, wait->frame_count, context->fold);
	char cause[REPORT_CAUSE_BYTES];

	page_put_duration(page, wait->cmetric_max_ns, 9);
	page_put_duration(page, wait->cmetric_ns, 9);
	page_put_count(page, wait->waits, 8);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	row_put_object(page,
		       wait->worst_object ? wait->worst_object : report_cause_text(cause, wait->cause, wait->syscall),
		       page_columns_left(page) / 2);
	page_color(page, PAGE_PLAIN);
	page_put(page, "  ");
	if (frame)
		text_put_frame(page, frame, page_columns_left(page) * 3 / 5);
}

static void add_action_rows(struct rows *rows, const struct row *row)
{
	rows_add_wait(rows, row, row->item);
}

static const struct row_kind action_kind = { put_action, add_action_rows };

static int by_worst(const void *a, const void *b)
{
	const struct report_wait *x = a, *y = b;

	return x->cmetric_max_ns < y->cmetric_max_ns ? 1 : x->cmetric_max_ns > y->cmetric_max_ns ? -1 : 0;
}

static bool is_file_action(const struct report_wait *wait)
{
	return wait->group == GROUP_IO && wait->cmetric_max_ns;
}

static void add_actions(struct rows *rows, const struct report *report)
{
	const void *const *waits =
		rows_sorted(rows, report->waits, report->wait_count, sizeof(*report->waits), by_worst);
	size_t shown = 0;

	for (size_t i = 0; i < report->wait_count && shown < ACTIONS_MAX; i++) {
		const struct report_wait *wait = waits[i];

		if (!is_file_action(wait))
			continue;
		if (!shown++) {
			rows_add_heading(rows, NUMBER_ACTIONS, "Most critical file actions");
			rows_add_text(rows, NULL, NUMBER_ACTIONS + 1,
				      "    worst      sum   times  file, and its "
				      "worst path");
		}
		rows_add(rows, NULL,
			 (struct row){
				 .kind = &action_kind,
				 .item = wait,
				 .can_unfold = true,
				 .key = row_key(wait->key, wait - report->waits),
			 });
	}
}

static void add_threads(struct rows *rows)
{
	rows_add_heading(rows, NUMBER_THREADS, "Threads by CMetric");
	rows_add_groups(rows, GROUPS_MAX);
}

static void add_rows(struct rows *rows)
{
	const struct report *report = rows_context(rows)->report;

	rows_add_shown(rows, NUMBER_VERDICT, text_verdict_show);
	if (report->balance.threads.total_ns) {
		rows_add_heading(rows, NUMBER_BALANCE, "Time of all threads");
		rows_add_balance(rows, CAUSES_MAX);
	}
	add_functions(rows, report);
	add_unlocks(rows, report);
	add_actions(rows, report);
	if (report->group_count)
		add_threads(rows);
	rows_add_text(rows, NULL, NUMBER_DETAILS, "");
	rows_add_shown(rows, NUMBER_DETAILS + 1, text_details_show);
	rows_add_text(rows, NULL, NUMBER_TOTALS, "");
	rows_add_shown(rows, NUMBER_TOTALS + 1, text_totals_show);
}

const struct tui_page summary_page = {
	.name = "SUMMARY",
	.key = '1',
	.add_rows = add_rows,
};
