/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/row_order.h"

#include <stdlib.h>

#include "base/memory.h"

void row_order_add(struct row_order *order, size_t at, uint64_t length_ns)
{
	ARRAY_GROW(order->list, order->count, order->capacity, 256);
	order->list[order->count++] = (struct row_length){ length_ns, at };
}

static int longest_first(const void *a, const void *b)
{
	const struct row_length *x = a, *y = b;

	if (x->length_ns != y->length_ns)
		return (x->length_ns < y->length_ns) - (x->length_ns > y->length_ns);
	return (x->at > y->at) - (x->at < y->at);
}

void row_order_sort(struct row_order *order)
{
	if (order->count)
		qsort(order->list, order->count, sizeof(*order->list), longest_first);
}

size_t row_order_row_of(const struct row_order *order, size_t at)
{
	size_t row = 0;

	while (row < order->count && order->list[row].at != at)
		row++;
	return row;
}

void row_order_fini(struct row_order *order)
{
	free(order->list);
	*order = (struct row_order){ 0 };
}
