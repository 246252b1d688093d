/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes tables in Apache Parquet (github.com/apache/parquet-format, README.md and src/main/thrift/parquet.thrift): flat columns, strings by
 * dictionaries, numbers plain, pages compressed with zstd, smallest and largest numbers of each row group. Rows are kept until there are
 * enough for a row group, so memory is bounded whatever the number of rows.
 *
 * Owns: tables in Parquet.
 * Used by: export.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "parquet/parquet_types.h"

struct parquet;
struct text;

/* Columns are borrowed, at least one. What is written is put behind out, which may be emptied between any two calls. */
struct parquet *parquet_new(const struct parquet_column *columns, size_t count, struct text *out);
void parquet_free(struct parquet *parquet);

/* The value of a column in the row that is being made: each column gets one. */
void parquet_put_number(struct parquet *parquet, size_t column, int64_t value);
void parquet_put_string(struct parquet *parquet, size_t column, const char *value);
void parquet_put_null(struct parquet *parquet, size_t column);
void parquet_end_row(struct parquet *parquet);

/* Puts what is left, and the end of the file: nothing may follow. created_by: the program. 0; -EIO: something could not be compressed. */
int parquet_finish(struct parquet *parquet, const char *created_by);
