/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for waits and for who ended them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct report_type;
struct report_wait;
struct report_waker;
struct row;
struct row_context;
struct rows;

/* Those of a group, GROUP_NONE for any, and of a cause, CAUSE_UNKNOWN for any; in the page's order. */
void rows_add_waits(struct rows *rows, const struct row *parent, enum cause_group group, enum wait_cause cause);

/* One wait, as the page of its group has it. */
void rows_add_wait(struct rows *rows, const struct row *parent, const struct report_wait *wait);

/* Who released a lock, with the call path below it; index: among its like. */
void rows_add_unlocker(struct rows *rows, const struct row *parent, const struct report_waker *unlocker, size_t index);

/* What is waited for: of a long path the end, which says most. */
struct page;
void row_put_object(struct page *page, const char *object, uint32_t columns_max);

/* Orders of pages that show waits: by the time lost, and by each column that the report's description has of waits. */
extern const char *const wait_sorts[];

/* The figure for the page's order, if it is a time, in an item of that type; NULL: there is none. */
const uint64_t *wait_ordered_ns(const struct row_context *context, const struct report_type *type, const void *item);

/* Title of that figure; NULL: there is none. */
const char *wait_ordered_title(const struct row_context *context);

/* Figures of what was waited for, each row of these pages begins with them. */
struct wait_figures {
	uint64_t wait_ns, idle_ns, waits;
	const uint64_t
		*ordered_ns; /* the time that the order is by, and that has no column; NULL: none, the share is shown */
	bool is_estimated;
};
void row_put_wait_titles(struct page *page, const char *ordered); /* what that time is called; NULL: none */
void row_put_wait_figures(struct page *page, const struct row_context *context, const struct wait_figures *figures);
