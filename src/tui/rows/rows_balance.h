/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for where the time of all threads went. */
#pragma once

#include <stddef.h>

struct page;
struct report;
struct row_context;
struct rows;

/* The first so many causes; what is left of them is one row. */
void rows_add_balance(struct rows *rows, size_t cause_count_max);

/* What the text view has to show, as wide as the rows are; number: of the first line. */
void rows_add_shown(struct rows *rows, size_t number, void (*show)(struct page *page, const struct report *report));
