/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks, by what waiting for them has cost, and who releases them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include "view/lock_classes.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { PLACES_MAX = 16, DETAIL_COLUMN = 6 };

static void show_summary(struct page *page, const struct lock_class *class)
{
	page_pad_to(page, 2);
	page_put_duration(page, class->all.wait_ns - class->all.idle_ns, 9);
	page_put(page, "  ");
	lock_class_put_name(page, class, false);
	page_end_line(page);
}

/* A condition belongs to nobody. */
static bool is_held(const struct report_lock *lock)
{
	static const char *const others[] = { "condition", "barrier", "semaphore", "atomic", "park", "idle", "join" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(lock->kind, others[i]))
			return false;
	return true;
}

static void show_counts(struct page *page, const struct report_lock *lock)
{
	struct text text = { 0 };

	text_put_count(&text, lock->waits);
	if (lock->waits > 1) {
		text_put(&text, " waits: p50 ");
		text_put_duration(&text, lock->p50_ns);
		text_put(&text, ", p99 ");
		text_put_duration(&text, lock->p99_ns);
		text_put(&text, ", max ");
	} else {
		text_put(&text, " wait of ");
	}
	text_put_duration(&text, lock->max_ns);
	if (lock->queue_max > 1)
		text_printf(&text, "; up to %llu waited at once", (unsigned long long)lock->queue_max);
	if (lock->holds && is_held(lock)) {
		text_put(&text, "; held ");
		text_put_duration(&text, lock->hold_ns / lock->holds);
		text_put(&text, " on average while others waited");
	}
	if (lock->holder) {
		text_put(&text, lock->holds && is_held(lock) ? ", mostly by thread " : "; held by thread ");
		page_text_name(page, &text, lock->holder);
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

/* What locks of one class have in common. */
static void show_class_counts(struct page *page, const struct lock_class *class)
{
	struct text text = { 0 };

	text_put_count(&text, class->all.waits);
	text_put(&text, class->all.waits == 1 ? " wait of " : " waits: mean ");
	text_put_duration(&text, class->all.wait_ns / class->all.waits);
	if (class->all.waits > 1) {
		text_put(&text, ", max ");
		text_put_duration(&text, class->all.max_ns);
	}
	page_color(page, PAGE_DIM);
	page_paragraph(page, "      ", text.bytes);
	text_fini(&text);
}

/* Who releases locks of a class, by where. */
struct unlock_place {
	const struct report_frame *frame; /* NULL: its stack is unknown */
	uint64_t cmetric_ns, count;
};

static bool is_same_place(const struct report_frame *a, const struct report_frame *b)
{
	if (!a || !b)
		return a == b;
	if (!a->function || !b->function)
		return !a->function && !b->function && a->offset == b->offset && a->module && b->module &&
		       !strcmp(a->module, b->module);
	return a->line == b->line && !strcmp(a->function, b->function);
}

static int by_criticality(const void *a, const void *b)
{
	const struct unlock_place *x = a, *y = b;

	return x->cmetric_ns < y->cmetric_ns   ? 1
	       : x->cmetric_ns > y->cmetric_ns ? -1
	       : x->count < y->count           ? 1
	       : x->count > y->count           ? -1
					       : 0;
}

/* Places beyond so many, those of smaller locks, are left out. */
static size_t unlock_places(const struct lock_class *class, const struct fold_rules *fold,
			    struct unlock_place places[PLACES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < class->lock_count; i++) {
		for (size_t j = 0; j < class->locks[i]->unlocker_count; j++) {
			const struct report_waker *unlocker = &class->locks[i]->unlockers[j];
			const struct report_frame *frame = text_headline(unlocker->frames, unlocker->frame_count, fold);
			size_t k = 0;

			while (k < count && !is_same_place(places[k].frame, frame))
				k++;
			if (k == PLACES_MAX)
				continue;
			if (k == count)
				places[count++] = (struct unlock_place){ .frame = frame };
			places[k].cmetric_ns += unlocker->cmetric_ns;
			places[k].count += unlocker->waits;
		}
	}
	qsort(places, count, sizeof(*places), by_criticality);
	return count;
}

static void show_unlock_place(struct page *page, const struct unlock_place *place)
{
	page_pad_to(page, DETAIL_COLUMN);
	page_put_duration(page, place->cmetric_ns, 9);
	page_put(page, " of criticality: ");
	if (place->frame)
		text_put_frame(page, place->frame, page_columns_left(page) / 2);
	else
		page_put(page, "no stack");
	if (page_columns_left(page) > 14) {
		page_color(page, PAGE_DIM);
		page_put(page, "  ");
		page_put_count(page, place->count, 0);
		page_put(page, place->count == 1 ? " time" : " times");
	}
	page_end_line(page);
}

static void show_class(struct page *page, const struct lock_class *class)
{
	struct unlock_place places[PLACES_MAX];
	size_t count = unlock_places(class, page->style->fold, places);

	show_summary(page, class);
	if (class->lock_count == 1)
		show_counts(page, class->locks[0]);
	else
		show_class_counts(page, class);
	if (class->lock_count == 1)
		text_put_blocked_on(page, class->locks[0]->blocked_on, "      ");
	for (size_t i = 0; i < count; i++)
		show_unlock_place(page, &places[i]);
}

void text_locks_show(struct page *page, const struct report *report)
{
	struct arena *arena = arena_new();
	size_t count;
	const struct lock_class *classes = lock_classes(arena, report, &count);

	for (size_t i = 0; i < count; i++) {
		if (!i)
			page_heading(page, "Locks by wait time",
				     "with the threads that released them, by CMetric accrued during the wait");
		show_class(page, &classes[i]);
	}
	arena_free(arena);
}
