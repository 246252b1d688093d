/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory.h"

enum { ZSTD_LEVEL = 1, BYTES_MAX = 64 << 20 /* of all */, CAPACITY_FIRST = 4096 };

void column_grow(struct column *column)
{
	column->capacity = column->capacity ? 2 * column->capacity : CAPACITY_FIRST;
	column->bytes = xrealloc(column->bytes, column->capacity, 1);
}

/* A column as it is, when packing gains nothing. */
static void pack(ZSTD_CCtx *zstd, const struct column *column, struct text *out, struct text *packed)
{
	size_t bound = ZSTD_compressBound(column->length), size_bytes = column->length;

	if (!column->length) {
		text_put_bytes(out, "\0", 2);
		return;
	}
	if (packed->capacity < bound) {
		packed->bytes = xrealloc(packed->bytes, bound, 1);
		packed->capacity = bound;
	}
	if (zstd)
		size_bytes = ZSTD_compressCCtx(zstd, packed->bytes, bound, column->bytes, column->length, ZSTD_LEVEL);
	text_put_varint(out, column->length);
	if (ZSTD_isError(size_bytes) || size_bytes >= column->length) {
		text_put_varint(out, 0);
		text_put_bytes(out, (const char *)column->bytes, column->length);
	} else {
		text_put_varint(out, size_bytes);
		text_put_bytes(out, packed->bytes, size_bytes);
	}
}

void state_columns_pack(struct state_columns *columns, struct text *out)
{
	struct text packed = { 0 };

	if (!columns->zstd)
		columns->zstd = ZSTD_createCCtx();
	for (unsigned int i = 0; i < COLUMNS; i++) {
		pack(columns->zstd, &columns->of[i], out, &packed);
		columns->of[i].length = 0;
	}
	text_fini(&packed);
}

void state_columns_fini(struct state_columns *columns)
{
	for (unsigned int i = 0; i < COLUMNS; i++)
		free(columns->of[i].bytes);
	ZSTD_freeCCtx(columns->zstd);
}

/* Where the columns lie, and how much room they take in all; 0: they make no sense. */
static uint64_t measure(struct byte_cursor *cursor, uint64_t plain[COLUMNS], uint64_t packed[COLUMNS],
			const uint8_t *at[COLUMNS])
{
	uint64_t all = 1;

	for (unsigned int i = 0; i < COLUMNS; i++) {
		plain[i] = byte_cursor_uleb(cursor);
		packed[i] = byte_cursor_uleb(cursor);
		at[i] = cursor->at;
		byte_cursor_skip(cursor, packed[i] ? packed[i] : plain[i]);
		if (plain[i] > BYTES_MAX || all + plain[i] > BYTES_MAX)
			return 0;
		all += plain[i];
	}
	return cursor->is_bad || byte_cursor_left(cursor) ? 0 : all;
}

int state_columns_unpack(const void *bytes, size_t size_bytes, struct open_columns *out)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);
	uint64_t plain[COLUMNS], packed[COLUMNS], all;
	const uint8_t *at[COLUMNS];
	uint8_t *to;

	*out = (struct open_columns){ 0 };
	all = measure(&cursor, plain, packed, at);
	if (!all)
		return -EBADMSG;
	to = out->bytes = xcalloc(all, 1);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		if (!packed[i])
			memcpy(to, at[i], plain[i]);
		else if (ZSTD_decompress(to, plain[i], at[i], packed[i]) != plain[i])
			return open_columns_fini(out), -EBADMSG;
		out->of[i] = byte_cursor_new(to, plain[i]);
		to += plain[i];
	}
	return 0;
}

void open_columns_fini(struct open_columns *columns)
{
	free(columns->bytes);
	*columns = (struct open_columns){ 0 };
}
