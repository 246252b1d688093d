/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of one chunk are rows, a bit each. The caller owns the struct, which begins zeroed; row_bits_fini()
 * frees what it holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_bits {
	uint32_t count;     /* of rows */
	uint32_t end;       /* from this number on no event is one */
	uint64_t latest_ns; /* of their times */
	uint8_t *bytes;     /* of events before end; those behind it are 0 */
	size_t capacity;
};

void row_bits_fini(struct row_bits *bits);

/* None is one. */
void row_bits_clear(struct row_bits *bits);

/* The event of this number in its chunk is one, and the last so far. */
void row_bits_add(struct row_bits *bits, uint32_t at, uint64_t time_ns);

/* How many bytes have a bit for each event before end. */
static inline size_t row_bits_bytes(const struct row_bits *bits)
{
	return ((size_t)bits->end + 7) / 8;
}

/* Whether there are events before end that are no rows. */
static inline bool row_bits_have_holes(const struct row_bits *bits)
{
	return bits->count != bits->end;
}

/* Makes space for so many bytes, all of which are to be set. */
void row_bits_reserve(struct row_bits *bits, size_t size_bytes);

static inline bool row_bits_has(const struct row_bits *bits, uint32_t at)
{
	return at < bits->end && (!row_bits_have_holes(bits) || bits->bytes[at / 8] >> at % 8 & 1);
}
