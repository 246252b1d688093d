/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A column of the row group that is being made, and its pages. The caller owns the struct. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "parquet/parquet_types.h"

struct table;

/* What the file's footer says of the column in this row group. */
struct parquet_chunk {
	uint64_t dictionary_at, data_at; /* from the beginning of the file; dictionary_at: 0: there is none */
	uint64_t plain_bytes, packed_bytes;
	uint64_t null_count;
	bool has_range; /* of numbers */
	int64_t min, max;
};

struct parquet_column_rows {
	const struct parquet_column *column;
	uint64_t row_count, null_count;
	struct text levels;  /* a byte a row: 1: it has a value; of optional columns */
	struct text numbers; /* 8 bytes each */
	struct text dictionary;
	struct table *known; /* places in the dictionary, plus 1, by hashes */
	uint32_t *places;    /* of strings */
	size_t place_count, place_capacity;
	int64_t min, max;
};

void parquet_column_init(struct parquet_column_rows *rows, const struct parquet_column *column);
void parquet_column_fini(struct parquet_column_rows *rows);

void parquet_column_number(struct parquet_column_rows *rows, int64_t value);
void parquet_column_string(struct parquet_column_rows *rows, const char *value);
void parquet_column_null(struct parquet_column_rows *rows);

/* The dictionary is as large as it may be. */
bool parquet_column_is_full(const struct parquet_column_rows *rows);

/* Puts the pages, the first of which begins at that byte of the file, and begins anew. 0; -EIO: one could not be compressed. */
int parquet_column_put(struct parquet_column_rows *rows, struct text *out, uint64_t at, struct parquet_chunk *chunk);
