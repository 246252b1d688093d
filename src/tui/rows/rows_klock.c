/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_klock.h"

#include "base/table.h"
#include "report/report.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_stack.h"
#include "view/page.h"
#include "view/text/klock_name.h"
#include "view/text/text_frames.h"

enum { TID_COLUMNS = 14, PROCESS_COLUMNS = 19, NAME_COLUMNS_MIN = 8 };
enum { NUMBER_NAME = 0, NUMBER_WHERE = 10000, NUMBER_OWNERS = 20000, NUMBER_WAITERS, NUMBER_PATHS };

uint64_t klock_mean_ns(uint64_t sum_ns, uint64_t count)
{
	return count ? sum_ns / count : 0;
}

void row_put_klock_sums(struct page *page, uint64_t wait_ns, uint64_t whole_ns, uint64_t waits)
{
	double share = whole_ns ? (double)wait_ns / whole_ns : 0;

	page_put_duration(page, wait_ns, ROW_TIME_COLUMNS);
	page_put_share(page, share < 1 ? share : 1, ROW_TIME_COLUMNS);
	page_put_count(page, waits, KLOCK_COUNT_COLUMNS);
}

void row_put_klock_time(struct page *page, const char *words, uint64_t time_ns)
{
	page_put(page, words);
	page_put_duration(page, time_ns, 0);
}

static void put_counts(struct page *page, const struct row *row,
		       const struct row_context *context __attribute__((unused)))
{
	const struct report_klock *lock = row->item;

	page_put_count(page, lock->waits, 0);
	page_put(page, lock->waits == 1 ? " wait of " : " waits: mean ");
	page_put_duration(page, klock_mean_ns(lock->wait_ns, lock->waits), 0);
	if (lock->waiter_count > 1)
		page_printf(page, ", by %zu threads", lock->waiter_count);
	if (lock->unfinished)
		page_printf(page, ", %llu not over yet", (unsigned long long)lock->unfinished);
	if (lock->given_up)
		page_printf(page, ", %llu given up", (unsigned long long)lock->given_up);
}

static void put_quantiles(struct page *page, const struct row *row,
			  const struct row_context *context __attribute__((unused)))
{
	const struct report_klock *lock = row->item;

	row_put_klock_time(page, "p50 ", lock->p50_ns);
	row_put_klock_time(page, ", p90 ", lock->p90_ns);
	row_put_klock_time(page, ", p99 ", lock->p99_ns);
	row_put_klock_time(page, ", max ", lock->max_ns);
}

static void put_address(struct page *page, const struct row *row,
			const struct row_context *context __attribute__((unused)))
{
	const struct report_klock *lock = row->item;

	page_put(page, "at ");
	page_put(page, lock->address);
	if (!lock->cache)
		return;
	page_put(page, " in ");
	page_put_name(page, lock->cache, page_columns_left(page));
	page_put(page, " memory");
}

static void put_taken(struct page *page, const struct row *row,
		      const struct row_context *context __attribute__((unused)))
{
	const struct report_klock *lock = row->item;

	page_put(page, "taken ");
	page_put_count(page, lock->acquisitions, 0);
	row_put_klock_time(page, lock->acquisitions == 1 ? " time; acquiring took " : " times; acquiring took ",
			   lock->take_ns);
	page_put(page, " in total");
}

static void put_held(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	const struct report_klock *lock = row->item;

	row_put_klock_time(page, "held: mean ", klock_mean_ns(lock->hold_ns, lock->holds));
	row_put_klock_time(page, ", max ", lock->max_hold_ns);
	row_put_klock_time(page, ", total ", lock->hold_ns);
}

static const struct row_kind counts_kind = { put_counts, NULL }, quantiles_kind = { put_quantiles, NULL },
			     address_kind = { put_address, NULL }, taken_kind = { put_taken, NULL },
			     held_kind = { put_held, NULL };

/* index: of the stack, counted from 1 on. */
static void add_stack_rows(struct rows *rows, const struct row *row)
{
	const struct report_klock_stack *stack = &rows_context(rows)->report->kernel_locks.stacks[row->index - 1];

	rows_add_stack(rows, row, 0, stack->frames, stack->frame_count, STACK_COMPLETE);
}

/* What is known about it: name may be NULL, and tid 0. */
static void put_thread(struct page *page, const char *name, uint32_t tid)
{
	uint32_t capacity = page_columns_left(page);

	if (name) {
		page_put(page, " ");
		page_put_name(page, name,
			      capacity > TID_COLUMNS + NAME_COLUMNS_MIN ? capacity - TID_COLUMNS - 1
									: NAME_COLUMNS_MIN);
	}
	if (tid)
		page_printf(page, " (tid %u)", tid);
}

static void put_owner(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_klock_owner *owner = row->item;
	const struct report_klock *lock = row->owner;

	row_put_klock_sums(page, owner->wait_ns, lock->wait_ns, owner->waits);
	page_put(page, owner->tid ? "  thread" : "  readers");
	put_thread(page, owner->name, owner->tid);
	if (!row->index)
		return;
	page_put(page, ", for example in ");
	text_put_frame_function(page, &context->report->kernel_locks.stacks[row->index - 1].frames[0],
				page_columns_left(page));
}

static void put_waiter(struct page *page, const struct row *row,
		       const struct row_context *context __attribute__((unused)))
{
	const struct report_klock_waiter *waiter = row->item;
	const struct report_klock *lock = row->owner;

	row_put_klock_sums(page, waiter->wait_ns, lock->wait_ns, waiter->waits);
	page_put_duration(page, waiter->max_ns, ROW_TIME_COLUMNS);
	page_put(page, "  ");
	if (wake_context_name(waiter->context))
		page_printf(page, "%s on", wake_context_name(waiter->context));
	else
		page_put(page, waiter->name || waiter->tid ? "thread" : "further threads");
	put_thread(page, waiter->name, waiter->tid);
	if (waiter->pid && page_columns_left(page) >= PROCESS_COLUMNS)
		page_printf(page, " of process %u", waiter->pid);
}

static void put_path(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_klock_stack *stack = &context->report->kernel_locks.stacks[row->index - 1];
	const struct report_klock_path *path = row->item;
	const struct report_klock *lock = row->owner;

	row_put_klock_sums(page, path->wait_ns, lock->wait_ns, path->waits);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	klock_put_headline(page, stack, context->fold);
}

static const struct row_kind owner_kind = { put_owner, add_stack_rows }, waiter_kind = { put_waiter, add_stack_rows },
			     path_kind = { put_path, add_stack_rows };

static void add_part(struct rows *rows, const struct row *parent, const struct row_kind *kind, const void *item,
		     size_t stack, uint64_t key)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = kind,
			 .item = item,
			 .owner = parent->item,
			 .index = stack,
			 .can_unfold = stack > 0,
			 .key = key,
		 });
}

static void add_owners(struct rows *rows, const struct row *row, const struct report_klock *lock)
{
	if (lock->owner_count)
		rows_add_text(rows, row, NUMBER_OWNERS, "   waited    share   waits  held by, at the start");
	for (size_t i = 0; i < lock->owner_count; i++)
		add_part(rows, row, &owner_kind, &lock->owners[i], lock->owners[i].stack, lock->owners[i].tid);
}

static void add_waiters(struct rows *rows, const struct row *row, const struct report_klock *lock)
{
	if (lock->waiter_count)
		rows_add_text(rows, row, NUMBER_WAITERS, "   waited    share   waits  longest  who waited");
	for (size_t i = 0; i < lock->waiter_count; i++) {
		const struct report_klock_waiter *waiter = &lock->waiters[i];

		add_part(rows, row, &waiter_kind, waiter, waiter->stack,
			 hash_u64(waiter->tid ^ hash_u64(waiter->context)));
	}
}

/* Of another report its number may be another one, and the place in a function of which it is an example. */
static uint64_t stack_key(const struct report_klock_stack *stack)
{
	uint64_t key = 1;

	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct report_frame *frame = &stack->frames[i];

		key = hash_u64(key ^ frame->line);
		key = frame->function ? hash_string(key, frame->function) : hash_u64(key ^ frame->offset);
	}
	return key;
}

static void add_paths(struct rows *rows, const struct row *row, const struct report_klock *lock)
{
	const struct report_klock_stack *stacks = rows_context(rows)->report->kernel_locks.stacks;

	if (lock->path_count)
		rows_add_text(rows, row, NUMBER_PATHS, "   waited    share   waits  where it was waited for");
	for (size_t i = 0; i < lock->path_count; i++)
		add_part(rows, row, &path_kind, &lock->paths[i], lock->paths[i].stack,
			 stack_key(&stacks[lock->paths[i].stack - 1]));
}

static void add_detail(struct rows *rows, const struct row *parent, const struct row_kind *kind, bool is_known)
{
	if (is_known)
		rows_add(rows, parent, (struct row){ .kind = kind, .item = parent->item });
}

void rows_add_klock_parts(struct rows *rows, const struct row *row)
{
	const struct report_klock *lock = row->item;

	if (lock->name)
		rows_add_whole(rows, row, NUMBER_NAME, "", lock->name);
	add_detail(rows, row, &counts_kind, lock->waits > 0);
	add_detail(rows, row, &quantiles_kind, lock->waits > 1);
	add_detail(rows, row, &taken_kind, lock->acquisitions > 0);
	add_detail(rows, row, &held_kind, lock->holds > 0);
	add_detail(rows, row, &address_kind, klock_has_address(lock));
	if (lock->where)
		rows_add_whole(rows, row, NUMBER_WHERE, lock->waits ? "mostly waited for in " : "first taken in ",
			       lock->where);
	add_owners(rows, row, lock);
	add_waiters(rows, row, lock);
	add_paths(rows, row, lock);
}
