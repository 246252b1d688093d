/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_bits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BYTES_FIRST = 1 << 14 };

void row_bits_fini(struct row_bits *bits)
{
	free(bits->bytes);
}

void row_bits_clear(struct row_bits *bits)
{
	if (bits->bytes)
		memset(bits->bytes, 0, row_bits_bytes(bits));
	bits->count = bits->end = 0;
	bits->latest_ns = 0;
}

void row_bits_reserve(struct row_bits *bits, size_t size_bytes)
{
	size_t capacity = bits->capacity ? bits->capacity : BYTES_FIRST;

	if (size_bytes <= bits->capacity)
		return;
	while (capacity < size_bytes)
		capacity *= 2;
	bits->bytes = xrealloc(bits->bytes, capacity, 1);
	memset(bits->bytes + bits->capacity, 0, capacity - bits->capacity);
	bits->capacity = capacity;
}

void row_bits_add(struct row_bits *bits, uint32_t at, uint64_t time_ns)
{
	row_bits_reserve(bits, (size_t)at / 8 + 1);
	bits->bytes[at / 8] |= 1 << at % 8;
	bits->count++;
	bits->end = at + 1;
	if (time_ns > bits->latest_ns)
		bits->latest_ns = time_ns;
}
