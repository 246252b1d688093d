/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of locks and of who releases them; a class of several locks unfolds to them. */
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_fields.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_waits.h"
#include "view/columns.h"
#include "view/lock_classes.h"
#include "view/page.h"

enum {
	NUMBER_OBJECT = 0,
	NUMBER_WAITS = 10000,
	NUMBER_HOLDS,
	NUMBER_HOLDER,
	NUMBER_IDLE,
	NUMBER_BLOCKED_ON,
	NUMBER_UNLOCKERS = 20000
};

/* By the time lost, by each figure that has a title, and by the most critical release. */
static const char *const sorts[] = {
	"time lost",
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) title,
#include "report/locks.def"
#include "report/forms/undef.def"
	"worst unlock",
	NULL,
};

enum { SORT_UNLOCK = sizeof(sorts) / sizeof(*sorts) - 2 };

/* NULL: the order is by none, or has a column anyway. */
static const struct report_field *ordered_time(const struct row_context *context)
{
	const struct report_field *column = column_of(report_lock_type(), context->sort);

	return column && column->kind == REPORT_NS ? column : NULL;
}

static void put_titles(struct page *page, const struct row_context *context)
{
	const struct report_field *column = ordered_time(context);

	row_put_wait_titles(page, context->sort == SORT_UNLOCK ? "unlock" : column ? column->title : NULL);
	page_put(page, "lock");
}

static void put_figures(struct page *page, const struct row_context *context, const struct lock_class *class)
{
	const struct report_field *column = ordered_time(context);

	row_put_wait_figures(page, context,
			     &(struct wait_figures){
				     .wait_ns = class->all.wait_ns,
				     .idle_ns = class->all.idle_ns,
				     .waits = class->all.waits,
				     .ordered_ns = context->sort == SORT_UNLOCK ? &class->unlock_max_ns
						   : column ? column_figure(column, report_lock_type(), &class->all)
							    : NULL,
			     });
}

static void put_lock(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_lock *lock = row->item;
	struct lock_class class = lock_class_of(&lock);

	put_figures(page, context, &class);
	lock_class_put_name(page, &class, true);
}

static void add_wait_counts(struct rows *rows, const struct row *row, const struct report_lock *lock)
{
	struct text line = { 0 };

	text_put_count(&line, lock->waits);
	text_put(&line, lock->waits == 1 ? " wait: p50 " : " waits: p50 ");
	text_put_duration(&line, lock->p50_ns);
	text_put(&line, ", p99 ");
	text_put_duration(&line, lock->p99_ns);
	text_put(&line, ", max ");
	text_put_duration(&line, lock->max_ns);
	rows_add_text(rows, row, NUMBER_WAITS, line.bytes);
	text_fini(&line);
	if (lock->idle_ns) {
		text_put(&line, "idle (no work to do) for ");
		text_put_duration(&line, lock->idle_ns);
		rows_add_text(rows, row, NUMBER_IDLE, line.bytes);
		text_fini(&line);
	}
}

static void add_holds(struct rows *rows, const struct row *row, const struct report_lock *lock)
{
	struct text line = { 0 };

	text_put(&line, "up to ");
	text_put_count(&line, lock->queue_max);
	text_put(&line, " waited at once");
	if (lock->holds) {
		text_put(&line, "; held ");
		text_put_duration(&line, lock->hold_ns / lock->holds);
		text_put(&line, " on average while others waited");
	}
	rows_add_text(rows, row, NUMBER_HOLDS, line.bytes);
	text_fini(&line);
	if (lock->holder)
		rows_add_whole(rows, row, NUMBER_HOLDER, "held mostly by thread ", lock->holder);
}

static void add_lock_rows(struct rows *rows, const struct row *row)
{
	const struct report_lock *lock = row->item;

	rows_add_whole(rows, row, NUMBER_OBJECT, "", lock->address);
	add_wait_counts(rows, row, lock);
	add_holds(rows, row, lock);
	if (lock->blocked_on && lock->blocked_on->text)
		rows_add_whole(rows, row, NUMBER_BLOCKED_ON, "what they waited for: ", lock->blocked_on->text);
	if (lock->unlocker_count)
		rows_add_text(rows, row, NUMBER_UNLOCKERS, "    worst      sum   times  released by (criticality)");
	for (size_t i = 0; i < lock->unlocker_count; i++)
		rows_add_unlocker(rows, row, &lock->unlockers[i], i);
}

static const struct row_kind lock_kind = { put_lock, add_lock_rows };

static void add_lock(struct rows *rows, const struct row *parent, const struct report_lock *lock)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &lock_kind,
			 .item = lock,
			 .can_unfold = true,
			 .key = row_key(lock->key, lock - rows_context(rows)->report->locks),
		 });
}

static void put_class(struct page *page, const struct row *row, const struct row_context *context)
{
	put_figures(page, context, row->item);
	lock_class_put_name(page, row->item, true);
}

static bool passes(const struct rows *rows, const struct report_lock *lock)
{
	if (rows_filter_has(rows, lock->kind) || rows_filter_has(rows, lock->holder) || rows_filter_has(rows, "lock"))
		return true;
	for (size_t i = 0; i < lock->unlocker_count; i++)
		if (rows_filter_has(rows, lock->unlockers[i].name))
			return true;
	return false;
}

static void add_class_rows(struct rows *rows, const struct row *row)
{
	const struct lock_class *class = row->item;

	for (size_t i = 0; i < class->lock_count; i++)
		if (passes(rows, class->locks[i]))
			add_lock(rows, row, class->locks[i]);
}

static const struct row_kind class_kind = { put_class, add_class_rows };

static bool any_passes(const struct rows *rows, const struct lock_class *class)
{
	for (size_t i = 0; i < class->lock_count; i++)
		if (passes(rows, class->locks[i]))
			return true;
	return false;
}

/* Of the figure in a class; SIZE_MAX: they are by time lost as they come. */
static size_t place_of_order(size_t sort)
{
	const struct report_field *column = column_of(report_lock_type(), sort);

	if (sort == SORT_UNLOCK)
		return offsetof(struct lock_class, unlock_max_ns);
	return column ? offsetof(struct lock_class, all) + column->at : SIZE_MAX;
}

static void add_rows(struct rows *rows)
{
	const struct row_context *context = rows_context(rows);
	size_t count;
	const struct lock_class *classes = lock_classes(rows_arena(rows), context->report, &count);
	const void *const *sorted =
		rows_sorted_by(rows, classes, count, sizeof(*classes), place_of_order(context->sort));

	for (size_t i = 0; i < count; i++) {
		const struct lock_class *class = sorted[i];

		if (!any_passes(rows, class))
			continue;
		if (class->lock_count == 1)
			add_lock(rows, NULL, class->locks[0]);
		else
			rows_add(rows, NULL,
				 (struct row){
					 .kind = &class_kind,
					 .item = class,
					 .key = class->key,
					 .can_unfold = true,
				 });
	}
}

const struct tui_page locks_page = {
	.name = "LOCKS",
	.key = '5',
	.sorts = sorts,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
