/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of both accounts: the wall time by active threads, the time of all threads by cause. */
#include "tui/rows/rows_balance.h"

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_waits.h"
#include "view/cause_color.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { LABEL_COLUMNS = 18, FIGURE_COLUMNS = 36, NUMBER_BALANCE = 1000 };

void rows_add_shown(struct rows *rows, size_t number, void (*show)(struct page *page, const struct report *report))
{
	const struct row_context *context = rows_context(rows);
	struct view_style style = {
		.width = context->width - ROW_MARK_COLUMNS,
		.has_unicode = context->has_unicode,
		.has_color = context->has_color,
		.fold = context->fold,
	};
	struct text text = { 0 };
	struct page page;

	page_init(&page, &style, &text);
	show(&page, context->report);
	page_fini(&page);
	if (text.length)
		rows_add_lines(rows, NULL, number, text.bytes + (*text.bytes == '\n'));
	text_fini(&text);
}

/* A part of the time of all threads. */
struct part {
	const char *label;
	enum page_color color;
	uint64_t time_ns;
	const struct report_cause *cause; /* NULL: it is not one of waiting */
};

static void put_part(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct part *part = row->item;
	uint64_t thread_ns = context->report->balance.threads.total_ns;
	double share = thread_ns ? (double)part->time_ns / thread_ns : 0;
	uint32_t end = page->column + LABEL_COLUMNS;

	page_put(page, part->label);
	page_pad_to(page, end);
	page_color(page, part->color);
	bars_put(page, share,
		 page_columns_left(page) > FIGURE_COLUMNS + 60 ? 60 : page_columns_left(page) - FIGURE_COLUMNS);
	page_color(page, PAGE_PLAIN);
	page_put_share(page, share, 9);
	page_put_duration(page, part->time_ns, 10);
	page_color(page, PAGE_DIM);
	if (part->cause && part->cause->idle_ns) {
		page_put(page, "  idle ");
		page_put_share(page, (double)part->cause->idle_ns / part->cause->wait_ns, 0);
	}
}

static void add_waits_of(struct rows *rows, const struct row *row)
{
	const struct part *part = row->item;

	rows_add_waits(rows, row, GROUP_NONE, part->cause->cause);
}

static const struct row_kind part_kind = { put_part, add_waits_of };

static void add_part(struct rows *rows, uint64_t key, struct part part)
{
	struct part *copy = arena_alloc(rows_arena(rows), sizeof(*copy));

	*copy = part;
	rows_add(rows, NULL,
		 (struct row){
			 .kind = &part_kind,
			 .key = key,
			 .item = copy,
			 .can_unfold = part.cause != NULL,
		 });
}

static uint64_t hash_string(const char *string)
{
	uint64_t hash = 1;

	for (; *string; string++)
		hash = hash * 31 + (unsigned char)*string;
	return hash;
}

void rows_add_balance(struct rows *rows, size_t cause_count_max)
{
	const struct report *report = rows_context(rows)->report;
	uint64_t rest_ns = 0;
	size_t shown = 0;

	if (rows_filter_has(rows, "running"))
		add_part(rows, 1, (struct part){ "running", PAGE_GREEN, report->balance.threads.running_ns, NULL });
	if (report->balance.threads.spinning_ns && rows_filter_has(rows, "spinning"))
		add_part(rows, 5,
			 (struct part){ "  of it spinning", PAGE_RED, report->balance.threads.spinning_ns, NULL });
	if (rows_filter_has(rows, "waiting for a CPU"))
		add_part(rows, 2,
			 (struct part){ "waiting for a CPU", PAGE_YELLOW,
					report->balance.threads.cpu_wait_ns - report->balance.threads.throttled_ns,
					NULL });
	if (report->balance.threads.throttled_ns && rows_filter_has(rows, "throttled"))
		add_part(rows, 4,
			 (struct part){ "throttled", PAGE_YELLOW, report->balance.threads.throttled_ns, NULL });
	for (size_t i = 0; i < report->balance.threads.cause_count; i++) {
		const struct report_cause *cause = &report->balance.threads.causes[i];

		if (cause->is_active)
			continue; /* has its line already */
		if (!rows_filter_has(rows, wait_cause_name(cause->cause)) &&
		    !rows_filter_has(rows, cause_group_name(cause->group)))
			continue;
		if (shown++ < cause_count_max)
			add_part(rows, hash_string(wait_cause_name(cause->cause)),
				 (struct part){
					 wait_cause_name(cause->cause),
					 cause_color(cause->cause),
					 cause->wait_ns,
					 cause,
				 });
		else
			rest_ns += cause->wait_ns;
	}
	if (rest_ns)
		add_part(rows, 3, (struct part){ "other waits", PAGE_PLAIN, rest_ns, NULL });
}

static void add_rows(struct rows *rows)
{
	const struct report *report = rows_context(rows)->report;
	struct text title = { 0 };

	rows_add_shown(rows, 0, text_parallel_show);
	text_put(&title, "Time of all threads, ");
	text_put_duration(&title, report->balance.threads.total_ns);
	text_put(&title, "; unfold a cause to see its waits");
	rows_add_heading(rows, NUMBER_BALANCE, title.bytes);
	text_fini(&title);
	if (report->balance.threads.total_ns)
		rows_add_balance(rows, SIZE_MAX);
}

const struct tui_page balance_page = {
	.name = "BALANCE",
	.key = '8',
	.has_filter = true,
	.add_rows = add_rows,
};
