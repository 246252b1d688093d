/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel locks, by the time that threads waited for them, spinning or asleep. */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/klock_name.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum {
	LOCKS_BRIEF = 3,
	LOCKS_MAX = 50,
	LOCKS_VERBOSE_MAX = 100000,
	WAITERS_MAX = 3,
	PATHS_MAX = 2,
	DETAIL_COLUMN = 6,
	FRAMES_MAX = 24,
	FUNCTION_COLUMNS = 60,
	KINDS_COLUMN = 41,
	STEP_COLUMNS = 11,
	STEPS = 5,
	HELD_COLUMN = 11,
	NAME_COLUMNS = 40
};

enum held_column { HELD_TAKEN, HELD_MEAN, HELD_MAX, HELD_TAKING, HELD_COLUMNS };

/* Of all threads' time: below that they are no matter for a report on other things. */
static const double share_min = 0.005;

static void show_counts(struct page *page, const struct report_klock *lock)
{
	struct text text = { 0 };

	text_put_count(&text, lock->waits);
	text_put(&text, lock->waits == 1 ? " wait of " : " waits: p50 ");
	if (lock->waits > 1) {
		text_put_duration(&text, lock->p50_ns);
		text_put(&text, ", p90 ");
		text_put_duration(&text, lock->p90_ns);
		text_put(&text, ", p99 ");
		text_put_duration(&text, lock->p99_ns);
		text_put(&text, ", max ");
	}
	text_put_duration(&text, lock->max_ns);
	if (lock->waiter_count > 1)
		text_printf(&text, "; by %zu threads", lock->waiter_count);
	if (lock->unfinished)
		text_printf(&text, "; %llu not over yet", (unsigned long long)lock->unfinished);
	if (lock->given_up)
		text_printf(&text, "; %llu given up", (unsigned long long)lock->given_up);
	if (klock_has_address(lock))
		text_printf(&text, "; at %s", lock->address);
	if (lock->name && lock->cache) {
		text_put(&text, " in ");
		page_text_name(page, &text, lock->cache);
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

/* Those of which none has ended yet have no times. */
static void put_holds(struct text *text, const struct report_klock *lock)
{
	text_put(text, "; acquiring took ");
	text_put_duration(text, lock->take_ns);
	text_put(text, " in total");
	if (!lock->holds)
		return;
	text_put(text, "; held: mean ");
	text_put_duration(text, lock->hold_ns / lock->holds);
	text_put(text, ", max ");
	text_put_duration(text, lock->max_hold_ns);
	text_put(text, ", total ");
	text_put_duration(text, lock->hold_ns);
}

static void show_holds(struct page *page, const struct report_klock *lock)
{
	struct text text = { 0 };

	if (!lock->acquisitions)
		return;
	text_put(&text, "taken ");
	text_put_count(&text, lock->acquisitions);
	text_put(&text, lock->acquisitions == 1 ? " time" : " times");
	put_holds(&text, lock);
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

/* A part of the lock's time, and what it is. Ends words. */
static void show_part(struct page *page, const struct report_klock *lock, uint64_t part_ns, struct text *words)
{
	page_pad_to(page, DETAIL_COLUMN);
	page_put_share(page, lock->wait_ns ? (double)part_ns / lock->wait_ns : 0, 7);
	page_paragraph(page, "  ", words->bytes);
	text_fini(words);
}

static void show_owner(struct page *page, const struct report *report, const struct report_klock *lock)
{
	const struct report_klock_owner *owner = lock->owner_count ? &lock->owners[0] : NULL;
	const struct report_frame *frame;
	struct text text = { 0 }, name = { 0 };

	if (!owner || !lock->wait_ns)
		return;
	text_put(&text, "began while ");
	if (owner->name) {
		text_put(&text, "thread ");
		page_text_name(page, &text, owner->name);
		text_printf(&text, " (tid %u) had it", owner->tid);
	} else if (owner->tid) {
		text_printf(&text, "the thread with tid %u had it", owner->tid);
	} else {
		text_put(&text, "readers had it");
	}
	if (owner->stack) {
		frame = &report->kernel_locks.stacks[owner->stack - 1].frames[0];
		text_frame_name(&name, frame);
		text_put(&text, ", for example in ");
		page_text_function(page, &text, name.bytes, FUNCTION_COLUMNS);
		text_fini(&name);
	}
	show_part(page, lock, owner->wait_ns, &text);
}

static void show_waiter(struct page *page, const struct report_klock *lock, const struct report_klock_waiter *waiter)
{
	struct text text = { 0 };

	if (wake_context_name(waiter->context))
		text_printf(&text, "%s on ", wake_context_name(waiter->context));
	text_put(&text, waiter->name || waiter->tid ? "thread" : "further threads");
	if (waiter->name) {
		text_put(&text, " ");
		page_text_name(page, &text, waiter->name);
	}
	if (waiter->tid)
		text_printf(&text, " (tid %u)", waiter->tid);
	text_put(&text, ": ");
	text_put_count(&text, waiter->waits);
	text_put(&text, waiter->waits == 1 ? " wait, " : " waits, ");
	text_put_duration(&text, waiter->wait_ns);
	show_part(page, lock, waiter->wait_ns, &text);
}

static void show_path(struct page *page, const struct report *report, const struct report_klock *lock,
		      const struct report_klock_path *path)
{
	const struct report_klock_stack *stack = &report->kernel_locks.stacks[path->stack - 1];

	page_pad_to(page, DETAIL_COLUMN);
	page_put_share(page, lock->wait_ns && path->wait_ns < lock->wait_ns ? (double)path->wait_ns / lock->wait_ns : 1,
		       7);
	page_put(page, "  ");
	klock_put_headline(page, stack, page->style->fold);
	page_end_line(page);
	for (size_t i = 0; i < stack->frame_count && i < FRAMES_MAX; i++) {
		page_pad_to(page, DETAIL_COLUMN + 9);
		text_put_frame(page, &stack->frames[i], page_columns_left(page) / 2);
		page_end_line(page);
	}
}

static void show_lock(struct page *page, const struct report *report, const struct report_klock *lock, bool is_full)
{
	size_t waiters_max = page->style->is_verbose ? lock->waiter_count : WAITERS_MAX;

	page_pad_to(page, 2);
	page_put_duration(page, lock->wait_ns, 9);
	page_put(page, "  ");
	klock_put_name(page, lock);
	page_end_line(page);
	show_counts(page, lock);
	show_holds(page, lock);
	show_owner(page, report, lock);
	if (!is_full)
		return;
	for (size_t i = 0; i < lock->waiter_count && i < waiters_max; i++)
		show_waiter(page, lock, &lock->waiters[i]);
	for (size_t i = 0; i < lock->path_count && i < PATHS_MAX; i++)
		show_path(page, report, lock, &lock->paths[i]);
}

static void show_rest(struct page *page, size_t count, size_t max)
{
	if (count <= max)
		return;
	page_color(page, PAGE_DIM);
	page_pad_to(page, 4);
	page_put_ellipsis(page);
	page_printf(page, " %zu more", count - max);
	page_end_line(page);
}

static void show_locks(struct page *page, const struct report *report, size_t max, bool is_full)
{
	const struct report_klocks *klocks = &report->kernel_locks;

	page_heading(page, "Kernel locks by wait time", "spinning and asleep");
	for (size_t i = 0; i < klocks->waited_count && i < max; i++)
		show_lock(page, report, &klocks->locks[i], is_full);
	show_rest(page, klocks->waited_count, max);
}

static void put_nameless(struct text *text, const struct report_klock *lock)
{
	if (klock_has_address(lock))
		text_printf(text, "a %s at %s", lock->kind, lock->address);
	else
		text_printf(text, "locks beyond the limit (%s)", lock->kind);
}

static void show_verdict(struct page *page, const struct report *report)
{
	const struct report_klocks *klocks = &report->kernel_locks;
	const struct report_klock *first = &klocks->locks[0];
	struct text text = { 0 };

	text_put(&text, "Threads waited ");
	text_put_duration(&text, klocks->wait_ns);
	text_put(&text, " for kernel locks, ");
	page_text_share(&text, report->balance.threads.total_ns
				       ? (double)klocks->wait_ns / report->balance.threads.total_ns
				       : 0);
	text_put(&text, " of their time");
	if (klocks->wait_ns) {
		text_put(&text, ": ");
		page_text_share(&text, (double)first->wait_ns / klocks->wait_ns);
		text_put(&text, " of it for ");
		if (first->name)
			page_text_name(page, &text, first->name);
		else
			put_nameless(&text, first);
		if (first->name)
			text_printf(&text, " (%s)", first->kind);
		if (!first->name && first->where) {
			text_put(&text, " in ");
			page_text_function(page, &text, first->where, 60);
		}
	}
	text_put(&text, ".");
	page_paragraph(page, "", text.bytes);
	text_fini(&text);
}

static void show_cost(struct page *page, const struct report_klocks *klocks)
{
	struct text text = { 0 };

	text_put(&text, "Recording a wait took ");
	text_put_duration(&text, klocks->tracing_ns / klocks->waits);
	text_put(&text, " on average, ");
	text_put_duration(&text, klocks->tracing_ns);
	text_put(&text, " in total. These times do not include it.");
	page_color(page, PAGE_DIM);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

/* What so many waits of a kind do not exceed; rank: where there is no space for all, those of a low one stay. */
static const struct {
	const char *title;
	size_t offset;
	uint32_t rank;
} steps[STEPS] = {
	{ "25 %", offsetof(struct report_klock_kind, p25_ns), 3 },
	{ "50 %", offsetof(struct report_klock_kind, p50_ns), 1 },
	{ "75 %", offsetof(struct report_klock_kind, p75_ns), 4 },
	{ "99 %", offsetof(struct report_klock_kind, p99_ns), 2 },
	{ "max", offsetof(struct report_klock_kind, max_ns), 0 },
};

static bool has_space_for(const struct page *page, size_t step)
{
	return steps[step].rank < (page->width - KINDS_COLUMN) / STEP_COLUMNS;
}

static void show_kind(struct page *page, const struct report_klock_kind *kind)
{
	page_pad_to(page, 2);
	page_put(page, kind->kind);
	page_pad_to(page, 21);
	page_put_duration(page, kind->wait_ns, 10);
	page_put_count(page, kind->waits, 10);
	for (size_t i = 0; i < STEPS; i++)
		if (has_space_for(page, i))
			page_put_duration(page, *(const uint64_t *)((const char *)kind + steps[i].offset),
					  STEP_COLUMNS);
	page_end_line(page);
}

static void show_kinds(struct page *page, const struct report *report)
{
	const struct report_klocks *klocks = &report->kernel_locks;

	page_heading(page, "Waits by kind of lock", NULL);
	page_color(page, PAGE_DIM);
	page_put(page, "                         waited     waits");
	for (size_t i = 0; i < STEPS; i++)
		if (has_space_for(page, i))
			page_printf(page, "%*s", STEP_COLUMNS, steps[i].title);
	page_end_line(page);
	for (size_t i = 0; i < klocks->kind_count; i++)
		show_kind(page, &klocks->kinds[i]);
}

/* --- Locks that are taken, whether or not somebody waits for them ------------------------------ */

/* As the steps above; the name of the lock has the rest of the line. */
static const struct {
	const char *title;
	uint32_t rank;
} held_columns[HELD_COLUMNS] = {
	{ "taken", 0 },
	{ "mean", 1 },
	{ "max", 2 },
	{ "taking", 3 },
};

static bool has_space_for_held(const struct page *page, size_t column)
{
	return page->width >= HELD_COLUMN + NAME_COLUMNS + (held_columns[column].rank + 1) * STEP_COLUMNS;
}

static void put_held_column(struct page *page, const struct report_klock *lock, enum held_column column)
{
	switch (column) {
	case HELD_TAKEN:
		page_put_count(page, lock->acquisitions, STEP_COLUMNS);
		break;
	case HELD_MEAN:
		page_put_duration(page, lock->holds ? lock->hold_ns / lock->holds : 0, STEP_COLUMNS);
		break;
	case HELD_MAX:
		page_put_duration(page, lock->max_hold_ns, STEP_COLUMNS);
		break;
	default:
		page_put_duration(page, lock->take_ns, STEP_COLUMNS);
	}
}

static void show_held(struct page *page, const struct report_klock *lock)
{
	page_pad_to(page, 2);
	page_put_duration(page, lock->hold_ns, 9);
	for (size_t i = 0; i < HELD_COLUMNS; i++)
		if (has_space_for_held(page, i))
			put_held_column(page, lock, i);
	page_put(page, "  ");
	klock_put_name(page, lock);
	page_end_line(page);
}

static int by_hold(const void *a, const void *b)
{
	const struct report_klock *x = *(const struct report_klock *const *)a;
	const struct report_klock *y = *(const struct report_klock *const *)b;

	return x->hold_ns < y->hold_ns             ? 1
	       : x->hold_ns > y->hold_ns           ? -1
	       : x->acquisitions < y->acquisitions ? 1
	       : x->acquisitions > y->acquisitions ? -1
						   : 0;
}

static void show_hold_cost(struct page *page, const struct report_klocks *klocks)
{
	struct text text = { 0 };

	text_put_count(&text, klocks->acquisitions);
	text_put(&text, " acquisitions by threads (interrupts are not counted). taking: from the request to the "
			"acquisition, spinning included. ");
	if (klocks->take_cost_ns && klocks->hold_cost_ns) {
		text_put(&text, "Recording one acquisition adds ");
		text_put_duration(&text, klocks->take_cost_ns);
		text_put(&text, " to the taking and ");
		text_put_duration(&text, klocks->hold_cost_ns);
		text_put(&text, " to the holding, measured on uncontended locks. These times do not include it.");
	} else {
		text_put(&text, "The cost of recording an acquisition could not be measured; these times include it.");
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

static void show_all_held(struct page *page, const struct report_klocks *klocks, size_t max)
{
	const struct report_klock **rows = xcalloc(klocks->lock_count, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < klocks->lock_count; i++)
		if (klocks->locks[i].acquisitions)
			rows[count++] = &klocks->locks[i];
	qsort(rows, count, sizeof(*rows), by_hold);
	page_heading(page, "Kernel locks by hold time", "contended or not");
	page_color(page, PAGE_DIM);
	page_put(page, "       held");
	for (size_t i = 0; i < HELD_COLUMNS; i++)
		if (has_space_for_held(page, i))
			page_printf(page, "%*s", STEP_COLUMNS, held_columns[i].title);
	page_end_line(page);
	for (size_t i = 0; i < count && i < max; i++)
		show_held(page, rows[i]);
	show_rest(page, count, max);
	show_hold_cost(page, klocks);
	free(rows);
}

void text_klocks_show(struct page *page, const struct report *report)
{
	const struct report_klocks *klocks = &report->kernel_locks;

	if (klocks->waited_count && klocks->wait_ns > share_min * report->balance.threads.total_ns)
		show_locks(page, report, LOCKS_BRIEF, false);
}

void text_klocks_show_all(struct page *page, const struct report *report)
{
	size_t max = page->style->is_verbose ? LOCKS_VERBOSE_MAX : LOCKS_MAX;

	if (report->kernel_locks.waits) {
		show_verdict(page, report);
		show_kinds(page, report);
		show_cost(page, &report->kernel_locks);
		show_locks(page, report, max, true);
	}
	if (report->kernel_locks.counts_acquisitions)
		show_all_held(page, &report->kernel_locks, max);
}
