/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parquet/parquet.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "parquet/parquet_column.h"
#include "parquet/parquet_words.h"
#include "parquet/thrift.h"

enum { GROUP_ROWS_MAX = 1 << 17, FORMAT_VERSION = 2 };

static const char magic[] = "PAR1";

struct parquet {
	const struct parquet_column *columns;
	size_t count;
	struct text *out;
	uint64_t put_bytes; /* behind out, so far */
	struct parquet_column_rows *rows;
	uint64_t group_rows, all_rows, group_count;
	struct text groups; /* what the footer has of them */
	int err;
};

struct parquet *parquet_new(const struct parquet_column *columns, size_t count, struct text *out)
{
	struct parquet *parquet = xcalloc(1, sizeof(*parquet));

	*parquet = (struct parquet){
		.columns = columns,
		.count = count,
		.out = out,
		.put_bytes = sizeof(magic) - 1,
		.rows = xcalloc(count, sizeof(*parquet->rows)),
	};
	text_put(out, magic);
	for (size_t i = 0; i < count; i++)
		parquet_column_init(&parquet->rows[i], &columns[i]);
	return parquet;
}

void parquet_free(struct parquet *parquet)
{
	if (!parquet)
		return;
	for (size_t i = 0; i < parquet->count; i++)
		parquet_column_fini(&parquet->rows[i]);
	text_fini(&parquet->groups);
	free(parquet->rows);
	free(parquet);
}

/* --- Row groups ------------------------------------------------------------------------------- */

static int type_of(const struct parquet_column *column)
{
	return column->type == PARQUET_STRING ? TYPE_BYTES : TYPE_INT64;
}

static void put_bound(struct thrift *thrift, unsigned int id, int64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint64_t)value >> 8 * i;
	thrift_put_bytes(thrift, id, bytes, sizeof(bytes));
}

static void put_statistics(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	thrift_begin_struct(thrift, COLUMN_STATISTICS);
	thrift_put_i64(thrift, STATISTICS_NULLS, chunk->null_count);
	if (chunk->has_range) {
		put_bound(thrift, STATISTICS_MAX, chunk->max);
		put_bound(thrift, STATISTICS_MIN, chunk->min);
	}
	thrift_end(thrift);
}

static void put_chunk(struct thrift *thrift, const struct parquet_column *column, const struct parquet_chunk *chunk,
		      uint64_t row_count)
{
	thrift_begin_element(thrift);
	thrift_put_i64(thrift, CHUNK_AT, chunk->dictionary_at ? chunk->dictionary_at : chunk->data_at);
	thrift_begin_struct(thrift, CHUNK_METADATA);
	thrift_put_i32(thrift, COLUMN_TYPE, type_of(column));
	thrift_begin_list(thrift, COLUMN_ENCODINGS, THRIFT_I32, 3);
	thrift_put_i32_element(thrift, ENCODING_PLAIN);
	thrift_put_i32_element(thrift, ENCODING_RLE);
	thrift_put_i32_element(thrift, ENCODING_DICTIONARY);
	thrift_begin_list(thrift, COLUMN_PATH, THRIFT_BYTES, 1);
	thrift_put_string_element(thrift, column->name);
	thrift_put_i32(thrift, COLUMN_CODEC, CODEC_ZSTD);
	thrift_put_i64(thrift, COLUMN_VALUES, row_count);
	thrift_put_i64(thrift, COLUMN_PLAIN_BYTES, chunk->plain_bytes);
	thrift_put_i64(thrift, COLUMN_PACKED_BYTES, chunk->packed_bytes);
	thrift_put_i64(thrift, COLUMN_DATA_AT, chunk->data_at);
	if (chunk->dictionary_at)
		thrift_put_i64(thrift, COLUMN_DICTIONARY_AT, chunk->dictionary_at);
	put_statistics(thrift, chunk);
	thrift_end(thrift);
	thrift_end(thrift);
}

static void put_group(struct parquet *parquet)
{
	uint64_t plain_bytes = 0;
	struct thrift thrift;

	thrift_begin(&thrift, &parquet->groups);
	thrift_begin_list(&thrift, GROUP_COLUMNS, THRIFT_STRUCT, parquet->count);
	for (size_t i = 0; i < parquet->count; i++) {
		size_t before = parquet->out->length;
		struct parquet_chunk chunk;
		int err = parquet_column_put(&parquet->rows[i], parquet->out, parquet->put_bytes, &chunk);

		parquet->err = parquet->err ? parquet->err : err;
		parquet->put_bytes += parquet->out->length - before;
		plain_bytes += chunk.plain_bytes;
		put_chunk(&thrift, &parquet->columns[i], &chunk, parquet->group_rows);
	}
	thrift_put_i64(&thrift, GROUP_BYTES, plain_bytes);
	thrift_put_i64(&thrift, GROUP_ROWS, parquet->group_rows);
	thrift_end(&thrift);
	parquet->group_count++;
	parquet->all_rows += parquet->group_rows;
	parquet->group_rows = 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

void parquet_put_number(struct parquet *parquet, size_t column, int64_t value)
{
	parquet_column_number(&parquet->rows[column], value);
}

void parquet_put_string(struct parquet *parquet, size_t column, const char *value)
{
	parquet_column_string(&parquet->rows[column], value);
}

void parquet_put_null(struct parquet *parquet, size_t column)
{
	parquet_column_null(&parquet->rows[column]);
}

void parquet_end_row(struct parquet *parquet)
{
	bool is_full = ++parquet->group_rows >= GROUP_ROWS_MAX;

	for (size_t i = 0; i < parquet->count; i++)
		is_full |= parquet_column_is_full(&parquet->rows[i]);
	if (is_full)
		put_group(parquet);
}

/* --- The end of the file ---------------------------------------------------------------------- */

static void put_time_type(struct thrift *thrift)
{
	thrift_begin_struct(thrift, LOGICAL_TIME);
	thrift_put_bool(thrift, TIME_IS_UTC, true);
	thrift_begin_struct(thrift, TIME_UNIT);
	thrift_begin_struct(thrift, UNIT_NS);
	thrift_end(thrift);
	thrift_end(thrift);
	thrift_end(thrift);
}

static void put_element(struct thrift *thrift, const struct parquet_column *column)
{
	thrift_begin_element(thrift);
	thrift_put_i32(thrift, ELEMENT_TYPE, type_of(column));
	thrift_put_i32(thrift, ELEMENT_REPETITION, column->is_optional ? REPETITION_OPTIONAL : REPETITION_REQUIRED);
	thrift_put_string(thrift, ELEMENT_NAME, column->name);
	if (column->type == PARQUET_STRING)
		thrift_put_i32(thrift, ELEMENT_CONVERTED, CONVERTED_UTF8);
	if (column->type != PARQUET_NUMBER) {
		thrift_begin_struct(thrift, ELEMENT_LOGICAL);
		if (column->type == PARQUET_TIME) {
			put_time_type(thrift);
		} else {
			thrift_begin_struct(thrift, LOGICAL_STRING);
			thrift_end(thrift);
		}
		thrift_end(thrift);
	}
	thrift_end(thrift);
}

static void put_schema(struct thrift *thrift, const struct parquet *parquet)
{
	thrift_begin_list(thrift, FILE_SCHEMA, THRIFT_STRUCT, parquet->count + 1);
	thrift_begin_element(thrift); /* the root */
	thrift_put_string(thrift, ELEMENT_NAME, "schema");
	thrift_put_i32(thrift, ELEMENT_CHILDREN, parquet->count);
	thrift_end(thrift);
	for (size_t i = 0; i < parquet->count; i++)
		put_element(thrift, &parquet->columns[i]);
}

/* Ranges of numbers are by the order of their type. */
static void put_orders(struct thrift *thrift, size_t count)
{
	thrift_begin_list(thrift, FILE_ORDERS, THRIFT_STRUCT, count);
	for (size_t i = 0; i < count; i++) {
		thrift_begin_element(thrift);
		thrift_begin_struct(thrift, ORDER_OF_TYPE);
		thrift_end(thrift);
		thrift_end(thrift);
	}
}

int parquet_finish(struct parquet *parquet, const char *created_by)
{
	struct text footer = { 0 };
	struct thrift thrift;
	char length[sizeof(uint32_t)];

	if (parquet->group_rows)
		put_group(parquet);
	thrift_begin(&thrift, &footer);
	thrift_put_i32(&thrift, FILE_VERSION, FORMAT_VERSION);
	put_schema(&thrift, parquet);
	thrift_put_i64(&thrift, FILE_ROWS, parquet->all_rows);
	thrift_begin_list(&thrift, FILE_GROUPS, THRIFT_STRUCT, parquet->group_count);
	if (parquet->groups.length)
		text_put_bytes(&footer, parquet->groups.bytes, parquet->groups.length);
	thrift_put_string(&thrift, FILE_CREATED_BY, created_by);
	put_orders(&thrift, parquet->count);
	thrift_end(&thrift);
	for (unsigned int i = 0; i < sizeof(length); i++)
		length[i] = footer.length >> 8 * i;
	text_put_bytes(parquet->out, footer.bytes, footer.length);
	text_put_bytes(parquet->out, length, sizeof(length));
	text_put(parquet->out, magic);
	text_fini(&footer);
	return parquet->err;
}
