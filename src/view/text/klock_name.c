/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/text/klock_name.h"

#include <string.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/text_frames.h"

enum { NAME_COLUMNS_MIN = 20, PLACE_COLUMNS_MIN = 8, MEMORY_COLUMNS = sizeof("a lock in  memory") - 1 };

bool klock_has_address(const struct report_klock *lock)
{
	return strcmp(lock->address, "others");
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void klock_put_name(struct page *page, const struct report_klock *lock)
{
	uint32_t capacity = page_columns_left(page), kind_columns = 2 + text_columns(lock->kind);
	uint32_t columns = capacity > kind_columns + NAME_COLUMNS_MIN ? capacity - kind_columns : NAME_COLUMNS_MIN;

	page_color(page, PAGE_BOLD);
	if (lock->name) {
		page_put_path(page, lock->name, columns);
	} else if (lock->cache) {
		page_put(page, "a lock in ");
		page_put_name(page, lock->cache, smaller(columns - MEMORY_COLUMNS, capacity / 3));
		page_put(page, " memory");
	} else {
		page_put(page, klock_has_address(lock) ? lock->address : "locks beyond the limit");
	}
	page_color(page, PAGE_PLAIN);
	page_put(page, "  ");
	page_put_name(page, lock->kind, page_columns_left(page));
	if (!lock->name && lock->where && page_columns_left(page) > PLACE_COLUMNS_MIN) {
		page_put(page, " in ");
		page_put_function(page, lock->where, page_columns_left(page));
	}
}

void klock_put_headline(struct page *page, const struct report_klock_stack *stack, const struct fold_rules *fold)
{
	const struct report_frame *headline = text_headline(stack->frames, stack->frame_count, fold);

	if (stack->wanting && headline && headline->is_kernel)
		text_put_headline(page, stack->wanting, 1, fold);
	else
		text_put_headline(page, stack->frames, stack->frame_count, fold);
}
