/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of locks and of who releases them; a class of several locks unfolds to them. */
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_waits.h"
#include "view/lock_classes.h"
#include "view/page.h"

enum { SORT_LOST, SORT_UNLOCK, SORT_LONGEST, SORT_WAITS };
enum { NUMBER_OBJECT = 0, NUMBER_WAITS = 10000, NUMBER_HOLDS, NUMBER_HOLDER, NUMBER_IDLE, NUMBER_UNLOCKERS = 20000 };

static const char *const sorts[] = { "time lost", "worst unlock", "longest", "waits", NULL };

static void put_titles(struct page *page, const struct row_context *context)
{
	static const char *const seconds[] = { "share", "unlock", "longest", "share" };

	page_printf(page, "%*s%*s%*s  lock", 9, "lost", 9, seconds[context->sort], 8, "waits");
}

static void put_figures(struct page *page, const struct row_context *context, const struct lock_class *class)
{
	uint64_t lost_ns = class->wait_ns - class->idle_ns;
	uint64_t busy_ns = context->report->balance.threads.busy_ns;

	page_put_duration(page, lost_ns, 9);
	if (context->sort == SORT_UNLOCK)
		page_put_duration(page, class->unlock_max_ns, 9);
	else if (context->sort == SORT_LONGEST)
		page_put_duration(page, class->max_ns, 9);
	else
		page_put_share(page, busy_ns ? (double)lost_ns / busy_ns : 0, 9);
	page_put_count(page, class->waits, 8);
	page_put(page, "  ");
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

static int descending(uint64_t x, uint64_t y)
{
	return x < y ? 1 : x > y ? -1 : 0;
}

static int by_unlock(const void *a, const void *b)
{
	const struct lock_class *x = a, *y = b;

	return descending(x->unlock_max_ns, y->unlock_max_ns);
}

static int by_longest(const void *a, const void *b)
{
	const struct lock_class *x = a, *y = b;

	return descending(x->max_ns, y->max_ns);
}

static int by_waits(const void *a, const void *b)
{
	const struct lock_class *x = a, *y = b;

	return descending(x->waits, y->waits);
}

static bool any_passes(const struct rows *rows, const struct lock_class *class)
{
	for (size_t i = 0; i < class->lock_count; i++)
		if (passes(rows, class->locks[i]))
			return true;
	return false;
}

static void add_rows(struct rows *rows)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_LOST] = NULL,
		[SORT_UNLOCK] = by_unlock,
		[SORT_LONGEST] = by_longest,
		[SORT_WAITS] = by_waits,
	};
	const struct row_context *context = rows_context(rows);
	size_t count;
	const struct lock_class *classes = lock_classes(rows_arena(rows), context->report, &count);
	const void *const *sorted = rows_sorted(rows, classes, count, sizeof(*classes), orders[context->sort]);

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
	.sorts = sorts,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
