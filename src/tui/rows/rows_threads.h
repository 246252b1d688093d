/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for threads, in their groups. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page;
struct row;
struct row_context;
struct rows;

/* The first so many groups, in the page's order; the last row says how many there are besides. */
void rows_add_groups(struct rows *rows, size_t count_max);

/* The number of the thread that the row shows; 0: it shows something else, or several. */
uint32_t row_thread(const struct row *row);

void row_put_thread_titles(struct page *page, const struct row_context *context);
