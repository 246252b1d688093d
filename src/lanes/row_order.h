/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which places of a list are rows, in the order of the list or the longest first. The struct begins zeroed; row_order_fini() ends it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct row_length {
	uint64_t length_ns;
	uint32_t at; /* its place in the list */
};

struct row_order {
	struct row_length *list;
	size_t count, capacity;
};

void row_order_add(struct row_order *order, size_t at, uint64_t length_ns);

/* Of equal length, those with a smaller place come first. */
void row_order_sort(struct row_order *order);

/* The row of a place of the list; the number of rows if it is not among them. */
size_t row_order_row_of(const struct row_order *order, size_t at);
void row_order_fini(struct row_order *order);
