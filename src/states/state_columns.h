/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a block, each packed by itself: numbers that are alike take less room beside each other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "base/byte_cursor.h"
#include "base/text.h"

enum state_column {
	COLUMN_HEAD,       /* how many there are of all, values, what the block begins with */
	COLUMN_OPS,        /* kinds of records, and what of them follows from those before */
	COLUMN_TIMES_LOW,  /* of the distance to the time before: the lowest byte */
	COLUMN_TIMES_HIGH, /* the rest */
	COLUMN_RUNNERS,    /* threads that get a CPU */
	COLUMN_THREADS,    /* others */
	COLUMN_CPUS,
	COLUMN_WAITS, /* values of waits */
	COLUMN_WAKES, /* of wake-ups and the like */
	COLUMN_WAKERS,
	COLUMN_OWNERS, /* who has a CPU */
	COLUMNS,
};

struct column {
	uint8_t *bytes;
	size_t length, capacity;
};

struct state_columns {
	struct column of[COLUMNS];
	ZSTD_CCtx *zstd;
};

/* Begins zeroed. A block's numbers are several to a record: they are put without a call. */
void column_grow(struct column *column);

static inline uint8_t *column_end(struct state_columns *columns, enum state_column number)
{
	enum { NUMBER_BYTES_MAX = 10 };
	struct column *column = &columns->of[number];

	if (column->capacity - column->length < NUMBER_BYTES_MAX)
		column_grow(column);
	return column->bytes + column->length;
}

static inline void column_put_byte(struct state_columns *columns, enum state_column column, uint8_t byte)
{
	*column_end(columns, column) = byte;
	columns->of[column].length++;
}

static inline void column_put(struct state_columns *columns, enum state_column column, uint64_t value)
{
	uint8_t *begin = column_end(columns, column), *at = begin;

	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	columns->of[column].length += at - begin;
}

static inline void column_put_signed(struct state_columns *columns, enum state_column column, int64_t value)
{
	column_put(columns, column, (uint64_t)value << 1 ^ value >> 63);
}

/* All of it: it has no small ones. */
static inline void column_put_word(struct state_columns *columns, enum state_column column, uint64_t word)
{
	memcpy(column_end(columns, column), &word, sizeof(word));
	columns->of[column].length += sizeof(word);
}

/* Puts all of them, and empties them. */
void state_columns_pack(struct state_columns *columns, struct text *out);
void state_columns_fini(struct state_columns *columns);

/* The same for a reader. */
struct open_columns {
	struct byte_cursor of[COLUMNS];
	uint8_t *bytes; /* of all, one after the other */
};

/* -EBADMSG: they make no sense. Else the caller frees them. */
int state_columns_unpack(const void *bytes, size_t size_bytes, struct open_columns *out);
void open_columns_fini(struct open_columns *columns);
