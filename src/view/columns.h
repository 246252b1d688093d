/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures that the report's description has titles for: columns of tables, and orders. An order is the place of its
 * figure among those of a type, from 1; 0 is the report's own order.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page;
struct report_field;
struct report_type;

/* NULL: there is no figure for that order. */
const struct report_field *column_of(const struct report_type *type, size_t order);

/* The figure of the same name in an item of another type; NULL: it has none. */
const void *column_figure(const struct report_field *column, const struct report_type *type, const void *item);

/* The same, a time or a count, in so many columns of the screen; blanks if there is none. */
void column_put(struct page *page, const struct report_field *column, const struct report_type *type, const void *item,
		int width);
