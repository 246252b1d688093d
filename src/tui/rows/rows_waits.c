/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_waits.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_cause.h"
#include "report/report_fields.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_stack.h"
#include "view/cause_color.h"
#include "view/columns.h"
#include "view/page.h"
#include "view/text/text_frames.h"

enum { CAUSE_COLUMNS = 12 };

/* Numbers of rows below a wait, a waker and an unlocker; frames are behind them. */
enum {
	NUMBER_COUNTS,
	NUMBER_IDLE,
	NUMBER_CMETRIC,
	NUMBER_OBJECT,
	NUMBER_BLOCKED_ON,
	NUMBER_WORST = 1000,
	NUMBER_HINT = 9000,
	NUMBER_FRAMES = 10000,
};

const char *const wait_sorts[] = {
	"time lost",
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) title,
#include "report/wait.def"
#include "report/forms/undef.def"
	NULL,
};

/* NULL: the order is by none, or has a column anyway. */
static const struct report_field *ordered_time(const struct row_context *context)
{
	const struct report_field *column = column_of(report_wait_type(), context->sort);

	return column && column->kind == REPORT_NS ? column : NULL;
}

const uint64_t *wait_ordered_ns(const struct row_context *context, const struct report_type *type, const void *item)
{
	const struct report_field *column = ordered_time(context);

	return column ? column_figure(column, type, item) : NULL;
}

const char *wait_ordered_title(const struct row_context *context)
{
	const struct report_field *column = ordered_time(context);

	return column ? column->title : NULL;
}

void row_put_wait_titles(struct page *page, const char *ordered)
{
	page_printf(page, "%*s%*s%*s  ", ROW_TIME_COLUMNS, "lost", ROW_TIME_COLUMNS, ordered ? ordered : "share", 8,
		    "waits");
}

void row_put_wait_figures(struct page *page, const struct row_context *context, const struct wait_figures *figures)
{
	uint64_t busy_ns = context->report->balance.threads.busy_ns;
	uint64_t lost_ns = figures->wait_ns - figures->idle_ns;

	if (figures->is_estimated)
		page_put_estimate(page, lost_ns, ROW_TIME_COLUMNS);
	else
		page_put_duration(page, lost_ns, ROW_TIME_COLUMNS);
	if (figures->ordered_ns)
		page_put_duration(page, *figures->ordered_ns, ROW_TIME_COLUMNS);
	else
		page_put_share(page, busy_ns ? (double)lost_ns / busy_ns : 0, ROW_TIME_COLUMNS);
	page_put_count(page, figures->waits, 8);
	page_put(page, "  ");
}

void row_put_object(struct page *page, const char *object, uint32_t columns_max)
{
	if (*object == '/' && text_columns(object) > columns_max)
		page_put_location(page, object, 0, columns_max);
	else
		page_put_path(page, object, columns_max);
}

static void put_wait(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_wait *wait = row->item;
	char cause[REPORT_CAUSE_BYTES];
	uint32_t cause_end;

	row_put_wait_figures(page, context,
			     &(struct wait_figures){
				     .wait_ns = wait->wait_ns,
				     .idle_ns = wait->idle_ns,
				     .waits = wait->waits,
				     .ordered_ns = wait_ordered_ns(context, report_wait_type(), wait),
				     .is_estimated = wait->is_estimated,
			     });
	cause_end = page->column + CAUSE_COLUMNS;
	page_color(page, cause_color(wait->cause));
	page_put_name(page, report_cause_text(cause, wait->cause, wait->syscall), CAUSE_COLUMNS - 1);
	page_pad_to(page, cause_end);
	if (wait->object && page_columns_left(page) > 30) {
		page_color(page, PAGE_PLAIN);
		row_put_object(page, wait->object, page_columns_left(page) / 3);
		page_put(page, "  ");
	}
	page_color(page, PAGE_BOLD);
	text_put_headline(page, wait->frames, wait->frame_count, context->fold);
}

static void put_waker(struct page *page, const struct row *row, const struct row_context *context)
{
	text_put_waker(page, row->item, context->fold);
}

static void put_mean_and_sum(struct text *line, uint64_t count, const char *noun, const char *plural, uint64_t sum_ns)
{
	text_put_count(line, count);
	text_put(line, count == 1 ? noun : plural);
	text_put_duration(line, count ? sum_ns / count : 0);
	if (count > 1) {
		text_put(line, " on average, total ");
		text_put_duration(line, sum_ns);
	}
}

static void add_waker_rows(struct rows *rows, const struct row *row)
{
	const struct report_waker *waker = row->item;
	struct text line = { 0 };

	put_mean_and_sum(&line, waker->waits, " wait of ", " waits of ", waker->wait_ns);
	rows_add_text(rows, row, NUMBER_COUNTS, line.bytes);
	text_fini(&line);
	if (waker->cmetric_ns) {
		text_put(&line, "criticality ");
		text_put_duration(&line, waker->cmetric_ns);
		text_put(&line, ", the worst ");
		text_put_duration(&line, waker->cmetric_max_ns);
		rows_add_text(rows, row, NUMBER_CMETRIC, line.bytes);
		text_fini(&line);
	}
	if (waker->frame_count)
		rows_add_stack(rows, row, NUMBER_FRAMES, waker->frames, waker->frame_count, STACK_COMPLETE);
}

static const struct row_kind waker_kind = { put_waker, add_waker_rows };

static void add_wait_counts(struct rows *rows, const struct row *row, const struct report_wait *wait)
{
	struct text line = { 0 };

	put_mean_and_sum(&line, wait->waits, " wait of ", " waits of ", wait->wait_ns);
	text_put(&line, "; the longest ");
	text_put_duration(&line, wait->max_ns);
	rows_add_text(rows, row, NUMBER_COUNTS, line.bytes);
	text_fini(&line);
	if (wait->idle_ns) {
		text_put(&line, "idle (no work to do) for ");
		text_put_duration(&line, wait->idle_ns);
		rows_add_text(rows, row, NUMBER_IDLE, line.bytes);
		text_fini(&line);
	}
	if (wait->object)
		rows_add_whole(rows, row, NUMBER_OBJECT, "for ", wait->object);
	if (wait->cmetric_ns) {
		text_put(&line, "CMetric of critical slices that ended here ");
		text_put_duration(&line, wait->cmetric_ns);
		text_put(&line, ", the worst ");
		text_put_duration(&line, wait->cmetric_max_ns);
		rows_add_text(rows, row, NUMBER_CMETRIC, line.bytes);
		text_fini(&line);
		if (wait->worst_object && !wait->object)
			rows_add_whole(rows, row, NUMBER_WORST, "the worst for ", wait->worst_object);
	}
}

static void add_wait_rows(struct rows *rows, const struct row *row)
{
	const struct report_wait *wait = row->item;

	add_wait_counts(rows, row, wait);
	if (wait->blocked_on && wait->blocked_on->text)
		rows_add_whole(rows, row, NUMBER_BLOCKED_ON, "what they waited for: ", wait->blocked_on->text);
	rows_add_stack(rows, row, NUMBER_FRAMES, wait->frames, wait->frame_count, wait->stack_end);
	if (wait->names_hint)
		rows_add_whole(rows, row, NUMBER_HINT, "", wait->names_hint);
	for (size_t i = 0; i < wait->waker_count; i++)
		rows_add(rows, row,
			 (struct row){
				 .kind = &waker_kind,
				 .item = &wait->wakers[i],
				 .can_unfold = true,
				 .key = row_key(wait->wakers[i].key, i),
			 });
}

static const struct row_kind wait_kind = { put_wait, add_wait_rows };

void rows_add_wait(struct rows *rows, const struct row *parent, const struct report_wait *wait)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &wait_kind,
			 .item = wait,
			 .can_unfold = true,
			 .key = row_key(wait->key, wait - rows_context(rows)->report->waits),
		 });
}

static void put_unlocker(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_waker *unlocker = row->item;

	page_put_duration(page, unlocker->cmetric_max_ns, 9);
	page_put_duration(page, unlocker->cmetric_ns, 9);
	page_put_count(page, unlocker->waits, 8);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	text_put_headline(page, unlocker->frames, unlocker->frame_count, context->fold);
}

static void add_unlocker_rows(struct rows *rows, const struct row *row)
{
	const struct report_waker *unlocker = row->item;
	struct text line = { 0 };

	text_put(&line, "waited for it: ");
	text_put_duration(&line, unlocker->wait_ns);
	text_put(&line, "; first such thread: ");
	text_put(&line, unlocker->name ? unlocker->name : "?");
	rows_add_whole(rows, row, NUMBER_COUNTS, "", line.bytes);
	text_fini(&line);
	rows_add_stack(rows, row, NUMBER_FRAMES, unlocker->frames, unlocker->frame_count, STACK_COMPLETE);
}

static const struct row_kind unlocker_kind = { put_unlocker, add_unlocker_rows };

void rows_add_unlocker(struct rows *rows, const struct row *parent, const struct report_waker *unlocker, size_t index)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &unlocker_kind,
			 .item = unlocker,
			 .can_unfold = true,
			 .key = row_key(unlocker->key, index),
		 });
}

static bool passes(const struct rows *rows, const struct report_wait *wait)
{
	if (rows_filter_has(rows, wait_cause_name(wait->cause)) || rows_filter_has(rows, wait->syscall) ||
	    rows_filter_has(rows, cause_group_name(wait->group)))
		return true;
	for (size_t i = 0; i < wait->waker_count; i++)
		if (rows_filter_has(rows, wait->wakers[i].name))
			return true;
	return false;
}

void rows_add_waits(struct rows *rows, const struct row *parent, enum cause_group group, enum wait_cause cause)
{
	const struct row_context *context = rows_context(rows);
	const struct report *report = context->report;
	const void *const *waits = rows_sorted_by_column(rows, report->waits, report->wait_count, report_wait_type(),
							 column_of(report_wait_type(), context->sort));

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = waits[i];
		bool is_wanted = (group == GROUP_NONE || wait->group == group) &&
				 (cause == CAUSE_UNKNOWN || wait->cause == cause);

		if (is_wanted && passes(rows, wait))
			rows_add_wait(rows, parent, wait);
	}
}

static void put_titles(struct page *page, const struct row_context *context)
{
	row_put_wait_titles(page, wait_ordered_title(context));
	page_printf(page, "%-*s%s", CAUSE_COLUMNS, "cause", "where threads wait");
}

static void add_rows(struct rows *rows)
{
	rows_add_waits(rows, NULL, GROUP_SYNCHRONISATION, CAUSE_UNKNOWN);
}

const struct tui_page synchronisation_page = {
	.name = "SYNCHRONISATION",
	.key = '3',
	.short_name = "SYNC",
	.sorts = wait_sorts,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
