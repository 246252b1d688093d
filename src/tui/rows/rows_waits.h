/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for waits and for who ended them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct report_wait;
struct report_waker;
struct row;
struct rows;

/* Those of a group, GROUP_NONE for any, and of a cause, CAUSE_UNKNOWN for any; in the page's order. */
void rows_add_waits(struct rows *rows, const struct row *parent, enum cause_group group, enum wait_cause cause);

/* One wait, as the page of its group has it. */
void rows_add_wait(struct rows *rows, const struct row *parent, const struct report_wait *wait);

/* Who let go of a lock, with the call path below it; index: among its like. */
void rows_add_unlocker(struct rows *rows, const struct row *parent, const struct report_waker *unlocker, size_t index);

/* What is waited for: of a long path the end, which says most. */
struct page;
void row_put_object(struct page *page, const char *object, uint32_t columns_max);

/* Orders of pages that show waits. */
enum wait_sort { WAIT_SORT_LOST, WAIT_SORT_LONGEST, WAIT_SORT_TIMES, WAIT_SORT_CMETRIC };
extern const char *const wait_sorts[];

/* Figures of what was waited for, each row of these pages begins with them. */
struct row_context;
struct wait_figures {
	unsigned long long wait_ns, idle_ns, max_ns, count, cmetric_ns;
	bool is_estimated;
};
void row_put_wait_titles(struct page *page, const struct row_context *context);
void row_put_wait_figures(struct page *page, const struct row_context *context, const struct wait_figures *figures);
