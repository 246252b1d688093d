/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of kernel locks, the first row of which unfolds to their kinds. */
#include "base/table.h"
#include "report/report.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_klock.h"
#include "view/page.h"
#include "view/text/klock_name.h"

enum { SORT_WAITED, SORT_WAITS, SORT_MEAN, SORT_MEDIAN, SORT_LONGEST, SORT_TAKEN, SORT_HELD, SORTS };
enum { TAKEN_COLUMNS = 12, WIDE_COLUMNS = 100, VERY_WIDE_COLUMNS = 120 };

static const char *const sorts[] = { "waited", "waits", "mean", "median", "longest", "taken", "held", NULL };

/* --- Figures ------------------------------------------------------------------------------------ */

static bool has_sort(const struct report *report, size_t sort)
{
	return sort < SORT_TAKEN || (report && report->kernel_locks.counts_acquisitions);
}

/* From SORT_MEAN on; on a narrow screen one of them: what rows are sorted by, or else the longest. */
static bool shows(const struct row_context *context, size_t sort)
{
	size_t first = context->sort >= SORT_MEAN ? context->sort : SORT_LONGEST;

	return sort == first || (has_sort(context->report, sort) &&
				 context->width >= (sort < SORT_TAKEN ? WIDE_COLUMNS : VERY_WIDE_COLUMNS));
}

static uint32_t columns_of(size_t sort)
{
	return sort == SORT_TAKEN ? TAKEN_COLUMNS : KLOCK_TIME_COLUMNS;
}

static void put_titles(struct page *page, const struct row_context *context)
{
	page_printf(page, "%*s%*s%*s", KLOCK_TIME_COLUMNS, "waited", KLOCK_TIME_COLUMNS, "share", KLOCK_COUNT_COLUMNS,
		    "waits");
	for (size_t sort = SORT_MEAN; sort < SORTS; sort++)
		if (shows(context, sort))
			page_printf(page, "%*s", (int)columns_of(sort), sorts[sort]);
	page_put(page, "  lock");
}

/* By sort, those from SORT_MEAN on; NULL: it is unknown. */
struct figures {
	const uint64_t *figures[SORTS];
};

static void put_figures(struct page *page, const struct row_context *context, const struct figures *figures)
{
	for (size_t sort = SORT_MEAN; sort < SORTS; sort++) {
		const uint64_t *figure = figures->figures[sort];

		if (!shows(context, sort))
			continue;
		if (!figure)
			page_printf(page, "%*s", (int)columns_of(sort), "");
		else if (sort == SORT_TAKEN)
			page_put_count(page, *figure, TAKEN_COLUMNS);
		else
			page_put_duration(page, *figure, KLOCK_TIME_COLUMNS);
	}
	page_put(page, "  ");
}

/* --- Locks and kinds ---------------------------------------------------------------------------- */

static void put_lock(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_klock *lock = row->item;
	uint64_t mean = klock_mean_ns(lock->wait_ns, lock->waits);

	row_put_klock_sums(page, lock->wait_ns, context->report->balance.threads.busy_ns, lock->waits);
	put_figures(page, context,
		    &(struct figures){ {
			    [SORT_MEAN] = &mean,
			    [SORT_MEDIAN] = &lock->p50_ns,
			    [SORT_LONGEST] = &lock->max_ns,
			    [SORT_TAKEN] = &lock->acquisitions,
			    [SORT_HELD] = &lock->hold_ns,
		    } });
	klock_put_name(page, lock);
}

static const struct row_kind lock_kind = { put_lock, rows_add_klock_parts };

static void put_kind_quantiles(struct page *page, const struct row *row,
			       const struct row_context *context __attribute__((unused)))
{
	const struct report_klock_kind *kind = row->item;

	row_put_klock_time(page, "p25 ", kind->p25_ns);
	row_put_klock_time(page, ", p50 ", kind->p50_ns);
	row_put_klock_time(page, ", p75 ", kind->p75_ns);
	row_put_klock_time(page, ", p99 ", kind->p99_ns);
	row_put_klock_time(page, ", max ", kind->max_ns);
}

static const struct row_kind kind_quantiles_kind = { put_kind_quantiles, NULL };

static void add_kind_rows(struct rows *rows, const struct row *row)
{
	rows_add(rows, row, (struct row){ .kind = &kind_quantiles_kind, .item = row->item });
}

static void put_kind(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_klock_kind *kind = row->item;
	uint64_t mean = klock_mean_ns(kind->wait_ns, kind->waits);

	row_put_klock_sums(page, kind->wait_ns, context->report->kernel_locks.wait_ns, kind->waits);
	put_figures(page, context,
		    &(struct figures){ {
			    [SORT_MEAN] = &mean,
			    [SORT_MEDIAN] = &kind->p50_ns,
			    [SORT_LONGEST] = &kind->max_ns,
		    } });
	page_put_name(page, kind->kind, page_columns_left(page));
}

static const struct row_kind kind_kind = { put_kind, add_kind_rows };

static void put_cost(struct page *page, const struct row *row __attribute__((unused)),
		     const struct row_context *context)
{
	const struct report_klocks *klocks = &context->report->kernel_locks;

	row_put_klock_time(page, "recording a wait took ", klock_mean_ns(klocks->tracing_ns, klocks->waits));
	row_put_klock_time(page, ", total ", klocks->tracing_ns);
	page_put(page, "; not included in these times");
}

static void put_hold_cost(struct page *page, const struct row *row __attribute__((unused)),
			  const struct row_context *context)
{
	const struct report_klocks *klocks = &context->report->kernel_locks;

	if (!klocks->take_cost_ns || !klocks->hold_cost_ns) {
		page_put(page, "the cost of recording an acquisition is unknown; these times include it");
		return;
	}
	row_put_klock_time(page, "recording an acquisition took ", klocks->take_cost_ns);
	row_put_klock_time(page, " and ", klocks->hold_cost_ns);
	page_put(page, "; not included in these times");
}

static const struct row_kind cost_kind = { put_cost, NULL }, hold_cost_kind = { put_hold_cost, NULL };

static void add_kinds(struct rows *rows, const struct row *row)
{
	const struct report_klocks *klocks = &rows_context(rows)->report->kernel_locks;

	if (klocks->waits)
		rows_add(rows, row, (struct row){ .kind = &cost_kind });
	if (klocks->counts_acquisitions)
		rows_add(rows, row, (struct row){ .kind = &hold_cost_kind });
	for (size_t i = 0; i < klocks->kind_count; i++)
		rows_add(rows, row,
			 (struct row){
				 .kind = &kind_kind,
				 .item = &klocks->kinds[i],
				 .can_unfold = true,
				 .key = hash_string(1, klocks->kinds[i].kind),
			 });
}

static void put_all(struct page *page, const struct row *row __attribute__((unused)), const struct row_context *context)
{
	const struct report_klocks *klocks = &context->report->kernel_locks;

	row_put_klock_sums(page, klocks->wait_ns, context->report->balance.threads.busy_ns, klocks->waits);
	put_figures(page, context,
		    &(struct figures){ {
			    [SORT_TAKEN] = &klocks->acquisitions,
			    [SORT_HELD] = &klocks->hold_ns,
		    } });
	page_put(page, "all kernel locks, by kind");
}

static const struct row_kind all_kind = { put_all, add_kinds };

/* --- The page ----------------------------------------------------------------------------------- */

static int descending(uint64_t x, uint64_t y)
{
	return x < y ? 1 : x > y ? -1 : 0;
}

#define ORDER(name, figure)                                \
	static int by_##name(const void *a, const void *b) \
	{                                                  \
		const struct report_klock *x = a, *y = b;  \
                                                           \
		return descending(x->figure, y->figure);   \
	}

ORDER(waits, waits)
ORDER(median, p50_ns)
ORDER(longest, max_ns)
ORDER(taken, acquisitions)
ORDER(held, hold_ns)

static int by_mean(const void *a, const void *b)
{
	const struct report_klock *x = a, *y = b;

	return descending(klock_mean_ns(x->wait_ns, x->waits), klock_mean_ns(y->wait_ns, y->waits));
}

static bool passes(const struct rows *rows, const struct report_klock *lock)
{
	if (rows_filter_has(rows, "kernel-lock") || rows_filter_has(rows, lock->name) ||
	    rows_filter_has(rows, lock->kind) || rows_filter_has(rows, lock->where))
		return true;
	for (size_t i = 0; i < lock->waiter_count; i++)
		if (rows_filter_has(rows, lock->waiters[i].name))
			return true;
	for (size_t i = 0; i < lock->owner_count; i++)
		if (rows_filter_has(rows, lock->owners[i].name))
			return true;
	return false;
}

/* An address may be another lock's later, with another name. */
static uint64_t lock_key(const struct report_klock *lock)
{
	uint64_t key = hash_string(hash_string(1, lock->kind), lock->address);

	return lock->name ? hash_string(key, lock->name) : key;
}

static void add_rows(struct rows *rows)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_WAITED] = NULL,        [SORT_WAITS] = by_waits, [SORT_MEAN] = by_mean, [SORT_MEDIAN] = by_median,
		[SORT_LONGEST] = by_longest, [SORT_TAKEN] = by_taken, [SORT_HELD] = by_held,
	};
	const struct row_context *context = rows_context(rows);
	const struct report_klocks *klocks = &context->report->kernel_locks;
	const void *const *locks =
		rows_sorted(rows, klocks->locks, klocks->lock_count, sizeof(*klocks->locks), orders[context->sort]);

	if (klocks->lock_count && rows_filter_has(rows, NULL))
		rows_add(rows, NULL, (struct row){ .kind = &all_kind, .can_unfold = true });
	for (size_t i = 0; i < klocks->lock_count; i++) {
		const struct report_klock *lock = locks[i];

		if (passes(rows, lock))
			rows_add(rows, NULL,
				 (struct row){
					 .kind = &lock_kind,
					 .item = lock,
					 .can_unfold = true,
					 .key = lock_key(lock),
				 });
	}
}

const struct tui_page klocks_page = {
	.name = "KLOCKS",
	.nothing = "no thread waited for a kernel lock",
	.sorts = sorts,
	.has_sort = has_sort,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
