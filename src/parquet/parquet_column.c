/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parquet/parquet_column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/table.h"
#include "parquet/parquet_words.h"
#include "parquet/thrift.h"

enum { DICTIONARY_ENTRIES_MAX = 1 << 16, DICTIONARY_BYTES_MAX = 4 << 20 };

enum { ZSTD_LEVEL = 1 };

void parquet_column_init(struct parquet_column_rows *rows, const struct parquet_column *column)
{
	*rows = (struct parquet_column_rows){ .column = column, .known = table_new() };
}

void parquet_column_fini(struct parquet_column_rows *rows)
{
	text_fini(&rows->levels);
	text_fini(&rows->numbers);
	text_fini(&rows->dictionary);
	table_free(rows->known);
	free(rows->places);
}

static void begin_again(struct parquet_column_rows *rows)
{
	table_free(rows->known);
	rows->known = table_new();
	rows->row_count = rows->null_count = rows->place_count = 0;
	rows->levels.length = rows->numbers.length = rows->dictionary.length = 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void put_bytes(struct text *out, uint64_t value, unsigned int count)
{
	char bytes[8];

	for (unsigned int i = 0; i < count; i++)
		bytes[i] = value >> 8 * i;
	text_put_bytes(out, bytes, count);
}

static void add_row(struct parquet_column_rows *rows, bool has_value)
{
	rows->row_count++;
	rows->null_count += !has_value;
	if (rows->column->is_optional)
		put_bytes(&rows->levels, has_value, 1);
}

void parquet_column_number(struct parquet_column_rows *rows, int64_t value)
{
	bool is_first = rows->row_count == rows->null_count;

	if (is_first || value < rows->min)
		rows->min = value;
	if (is_first || value > rows->max)
		rows->max = value;
	put_bytes(&rows->numbers, value, sizeof(value));
	add_row(rows, true);
}

void parquet_column_string(struct parquet_column_rows *rows, const char *value)
{
	uint64_t key = hash_string(1, value);
	uintptr_t place = (uintptr_t)table_find(rows->known, key);

	if (!place) {
		place = table_count(rows->known) + 1;
		table_put(rows->known, key, (void *)place);
		put_bytes(&rows->dictionary, strlen(value), sizeof(uint32_t));
		text_put(&rows->dictionary, value);
	}
	ARRAY_GROW(rows->places, rows->place_count, rows->place_capacity, 1024);
	rows->places[rows->place_count++] = place - 1;
	add_row(rows, true);
}

void parquet_column_null(struct parquet_column_rows *rows)
{
	add_row(rows, false);
}

bool parquet_column_is_full(const struct parquet_column_rows *rows)
{
	return table_count(rows->known) >= DICTIONARY_ENTRIES_MAX || rows->dictionary.length >= DICTIONARY_BYTES_MAX;
}

/* --- Pages ------------------------------------------------------------------------------------ */

/* Bits of each number, the lowest ones first: one bit-packed run of the hybrid encoding (Encodings.md, RLE). */
static void pack(struct text *out, const void *numbers, size_t size_bytes, size_t count, unsigned int width)
{
	size_t padded = (count + 7) / 8 * 8;
	uint64_t bits = 0;
	unsigned int bit_count = 0;

	text_put_varint(out, padded / 8 << 1 | 1);
	for (size_t i = 0; i < padded; i++) {
		uint32_t number = 0;

		if (i < count)
			memcpy(&number, (const char *)numbers + i * size_bytes, size_bytes);
		bits |= (uint64_t)number << bit_count;
		for (bit_count += width; bit_count >= 8; bit_count -= 8, bits >>= 8)
			put_bytes(out, bits, 1);
	}
}

static void put_levels(struct text *page, const struct parquet_column_rows *rows)
{
	struct text packed = { 0 };

	pack(&packed, rows->levels.bytes, 1, rows->row_count, 1);
	put_bytes(page, packed.length, sizeof(uint32_t));
	text_put_bytes(page, packed.bytes, packed.length);
	text_fini(&packed);
}

static void put_places(struct text *page, const struct parquet_column_rows *rows)
{
	size_t count = table_count(rows->known);
	unsigned int width = 1;

	while (count > (size_t)1 << width)
		width++;
	put_bytes(page, width, 1);
	pack(page, rows->places, sizeof(*rows->places), rows->place_count, width);
}

static void put_header(struct text *out, enum parquet_page type, size_t plain_bytes, size_t packed_bytes, size_t count,
		       bool is_by_dictionary)
{
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_put_i32(&thrift, PAGE_TYPE, type);
	thrift_put_i32(&thrift, PAGE_PLAIN_BYTES, plain_bytes);
	thrift_put_i32(&thrift, PAGE_PACKED_BYTES, packed_bytes);
	thrift_begin_struct(&thrift, type == PAGE_OF_DATA ? PAGE_DATA_HEADER : PAGE_DICTIONARY_HEADER);
	thrift_put_i32(&thrift, HEADER_VALUES, count);
	thrift_put_i32(&thrift, HEADER_ENCODING, is_by_dictionary ? ENCODING_DICTIONARY : ENCODING_PLAIN);
	if (type == PAGE_OF_DATA) {
		thrift_put_i32(&thrift, HEADER_DEFINITION_ENCODING, ENCODING_RLE);
		thrift_put_i32(&thrift, HEADER_REPETITION_ENCODING, ENCODING_RLE);
	}
	thrift_end(&thrift);
	thrift_end(&thrift);
}

/* Compressed, with its header in front. */
static int put_page(struct text *out, enum parquet_page type, const struct text *page, size_t count,
		    bool is_by_dictionary, struct parquet_chunk *chunk)
{
	size_t bound = ZSTD_compressBound(page->length), packed_bytes, before = out->length;
	char *packed = xcalloc(1, bound);
	int err = 0;

	packed_bytes = ZSTD_compress(packed, bound, page->bytes, page->length, ZSTD_LEVEL);
	if (ZSTD_isError(packed_bytes)) {
		err = -EIO;
	} else {
		put_header(out, type, page->length, packed_bytes, count, is_by_dictionary);
		chunk->plain_bytes += out->length - before + page->length;
		text_put_bytes(out, packed, packed_bytes);
		chunk->packed_bytes += out->length - before;
	}
	free(packed);
	return err;
}

int parquet_column_put(struct parquet_column_rows *rows, struct text *out, uint64_t at, struct parquet_chunk *chunk)
{
	bool is_string = rows->column->type == PARQUET_STRING, is_known = rows->row_count > rows->null_count;
	bool has_dictionary = is_string && is_known;
	struct text page = { 0 };
	int err = 0;

	*chunk = (struct parquet_chunk){
		.null_count = rows->null_count,
		.has_range = !is_string && is_known,
		.min = rows->min,
		.max = rows->max,
	};
	if (has_dictionary) {
		chunk->dictionary_at = at;
		err = put_page(out, PAGE_OF_DICTIONARY, &rows->dictionary, table_count(rows->known), false, chunk);
	}
	chunk->data_at = at + chunk->packed_bytes;
	text_put(&page, "");
	if (rows->column->is_optional)
		put_levels(&page, rows);
	if (has_dictionary)
		put_places(&page, rows);
	else if (rows->numbers.length)
		text_put_bytes(&page, rows->numbers.bytes, rows->numbers.length);
	if (!err)
		err = put_page(out, PAGE_OF_DATA, &page, rows->row_count, has_dictionary, chunk);
	text_fini(&page);
	begin_again(rows);
	return err;
}
