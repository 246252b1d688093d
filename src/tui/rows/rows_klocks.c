/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of kernel locks, the first row of which unfolds to their kinds. */
#include "base/table.h"
#include "report/report.h"
#include "report/report_fields.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_klock.h"
#include "view/columns.h"
#include "view/page.h"
#include "view/text/klock_name.h"

enum { TAKEN_COLUMNS = 12, WIDE_COLUMNS = 100, VERY_WIDE_COLUMNS = 120 };

/* By the time waited, which is the report's order, and by each figure that has a title. */
static const char *const sorts[] = {
	"waited",
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) title,
#include "report/klocks.def"
#include "report/forms/undef.def"
	NULL,
};

enum {
	SORT_WAITED,
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) SORT_##member,
#include "report/klocks.def"
#include "report/forms/undef.def"
	SORTS,
};

/* --- Figures ------------------------------------------------------------------------------------ */

/* Those that are optional are of a report that counts acquisitions. */
static bool has_sort(const struct report *report, size_t sort)
{
	const struct report_field *column = column_of(report_klock_type(), sort);

	return !column || !column->is_optional || (report && report->kernel_locks.counts_acquisitions);
}

/* Those behind the waits; on a narrow screen one of them: what rows are sorted by, or else the longest. */
static bool shows(const struct row_context *context, size_t sort)
{
	size_t first = context->sort > SORT_waits ? context->sort : SORT_max_ns;
	bool is_optional = column_of(report_klock_type(), sort)->is_optional;

	return sort == first ||
	       (has_sort(context->report, sort) && context->width >= (is_optional ? VERY_WIDE_COLUMNS : WIDE_COLUMNS));
}

static int width_of(const struct report_field *column)
{
	return column->kind == REPORT_NS ? ROW_TIME_COLUMNS : TAKEN_COLUMNS;
}

static void put_titles(struct page *page, const struct row_context *context)
{
	page_printf(page, "%*s%*s%*s", ROW_TIME_COLUMNS, "waited", ROW_TIME_COLUMNS, "share", KLOCK_COUNT_COLUMNS,
		    "waits");
	for (size_t sort = SORT_waits + 1; sort < SORTS; sort++)
		if (shows(context, sort))
			page_printf(page, "%*s", width_of(column_of(report_klock_type(), sort)), sorts[sort]);
	page_put(page, "  lock");
}

/* Of a lock, or of several: what the type of the item has. */
static void put_figures(struct page *page, const struct row_context *context, const struct report_type *type,
			const void *item)
{
	for (size_t sort = SORT_waits + 1; sort < SORTS; sort++) {
		const struct report_field *column = column_of(report_klock_type(), sort);

		if (shows(context, sort))
			column_put(page, column, type, item, width_of(column));
	}
	page_put(page, "  ");
}

/* --- Locks and kinds ---------------------------------------------------------------------------- */

static void put_lock(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_klock *lock = row->item;

	row_put_klock_sums(page, lock->wait_ns, context->report->balance.threads.busy_ns, lock->waits);
	put_figures(page, context, report_klock_type(), lock);
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

	row_put_klock_sums(page, kind->wait_ns, context->report->kernel_locks.wait_ns, kind->waits);
	put_figures(page, context, report_klock_kind_type(), kind);
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
	put_figures(page, context, report_klocks_type(), klocks);
	page_put(page, "all kernel locks, by kind");
}

static const struct row_kind all_kind = { put_all, add_kinds };

/* --- The page ----------------------------------------------------------------------------------- */

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
	const struct row_context *context = rows_context(rows);
	const struct report_klocks *klocks = &context->report->kernel_locks;
	const void *const *locks = rows_sorted_by_column(rows, klocks->locks, klocks->lock_count, report_klock_type(),
							 column_of(report_klock_type(), context->sort));

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
	.key = '6',
	.nothing = "no thread waited for a kernel lock",
	.sorts = sorts,
	.has_sort = has_sort,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
