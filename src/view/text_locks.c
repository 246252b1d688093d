/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks, by what waiting for them has cost, and who lets go of them. */
#include <string.h>

#include "analysis/report.h"
#include "view/page.h"
#include "view/text_sections.h"
#include "view/view.h"

enum { LOCKS_MAX = 5, UNLOCKERS_MAX = 3, DETAIL_COLUMN = 6, NAME_COLUMNS_MAX = 40 };

static const double lock_share_min = 0.005;

static void show_summary(struct page *page, const struct report_lock *lock)
{
	page_pad_to(page, 2);
	page_put_duration(page, lock->wait_ns - lock->idle_ns, 9);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	page_put_name(page, lock->name ? lock->name : lock->object, NAME_COLUMNS_MAX);
	page_color(page, PAGE_PLAIN);
	page_put(page, "  ");
	page_put_name(page, lock->kind, page_room(page));
	if (lock->where && page_room(page) > 20) {
		page_put(page, " in ");
		page_put_function(page, lock->where, page_room(page));
	}
	page_end_line(page);
}

/* A condition belongs to nobody. */
static bool is_held(const struct report_lock *lock)
{
	static const char *const others[] = { "condition", "barrier", "semaphore", "atomic", "park",
					      "idle", "join" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(lock->kind, others[i]))
			return false;
	return true;
}

static void show_counts(struct page *page, const struct report_lock *lock)
{
	struct text text = { 0 };

	text_put_count(&text, lock->waits);
	text_put(&text, lock->waits == 1 ? " wait: half up to " : " waits: half up to ");
	text_put_duration(&text, lock->p50_ns);
	text_put(&text, ", 99 % up to ");
	text_put_duration(&text, lock->p99_ns);
	text_put(&text, ", at most ");
	text_put_duration(&text, lock->max_ns);
	text_printf(&text, "; up to %llu waited at once", (unsigned long long)lock->queue_max);
	if (lock->holds && is_held(lock)) {
		text_put(&text, "; held for ");
		text_put_duration(&text, lock->hold_ns / lock->holds);
		text_put(&text, " in the mean while somebody waited");
	}
	if (lock->holder) {
		text_put(&text, ", mostly by thread ");
		page_text_name(page, &text, lock->holder);
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

static void show_unlocker(struct page *page, const struct report_waker *unlocker)
{
	const struct report_frame *frame =
		text_headline(unlocker->frames, unlocker->frame_count, page->style->fold);

	page_pad_to(page, DETAIL_COLUMN);
	page_put_duration(page, unlocker->cmetric_ns, 9);
	page_put(page, " of criticality: ");
	if (frame)
		text_put_frame(page, frame, page_room(page) / 2);
	else
		page_put(page, "stack not known");
	if (page_room(page) > 14) {
		page_color(page, PAGE_DIM);
		page_put(page, "  ");
		page_put_count(page, unlocker->count, 0);
		page_put(page, " times");
	}
	page_end_line(page);
}

/* What a thread's end is waited for by is in the account of waits, and nobody's lock. */
static bool is_lock(const struct report_lock *lock)
{
	return strcmp(lock->kind, "join") != 0;
}

static bool is_worth_it(const struct page *page, const struct report *report,
			const struct report_lock *lock, size_t shown)
{
	if (page->style->is_verbose)
		return true;
	return shown < LOCKS_MAX &&
	       lock->wait_ns - lock->idle_ns >= lock_share_min * report->balance.thread_ns;
}

static void show_lock(struct page *page, const struct report_lock *lock)
{
	show_summary(page, lock);
	show_counts(page, lock);
	for (size_t i = 0; i < lock->unlocker_count &&
			   (i < UNLOCKERS_MAX || page->style->is_verbose); i++)
		show_unlocker(page, &lock->unlockers[i]);
}

void text_locks_show(struct page *page, const struct report *report)
{
	size_t shown = 0, left_out = 0;

	for (size_t i = 0; i < report->lock_count; i++) {
		const struct report_lock *lock = &report->locks[i];

		if (!is_lock(lock))
			continue;
		if (!is_worth_it(page, report, lock, shown)) {
			left_out++;
			continue;
		}
		if (!shown++)
			page_heading(page, "Locks by time waited for them",
				     "with those who let go of them, by what they were given meanwhile");
		show_lock(page, lock);
	}
	if (shown && left_out) {
		page_color(page, PAGE_DIM);
		page_pad_to(page, 4);
		page_put_ellipsis(page);
		page_printf(page, " %zu more %s", left_out, left_out == 1 ? "lock" : "locks");
		page_end_line(page);
	}
}
