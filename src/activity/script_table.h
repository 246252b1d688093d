/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of statistics that a script has made: columns with units, rows, and how it is to be shown. A table that a list owns is a copy
 * (script_tables.h); one that a script gives to its host is valid during the call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TABLE_COLUMNS_MAX = 16,
	TABLE_ROWS_MAX = 10000,
	TABLE_CELLS_MAX = 40000,
	TABLE_TITLE_BYTES_MAX = 100, /* of the title, and of the name of a column */
	TABLE_CELL_BYTES_MAX = 200,
	TABLE_TEXT_BYTES_MAX = 1 << 20, /* of all cells */
};

enum table_unit { UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_COUNT, UNITS };
enum table_view { VIEW_TABLE, VIEW_BARS, VIEW_LINE, VIEW_HISTOGRAM, TABLE_VIEWS };

struct table_column {
	const char *name;
	enum table_unit unit; /* of its numbers */
};

struct table_cell {
	enum { CELL_EMPTY, CELL_INTEGER, CELL_REAL, CELL_TEXT } type;
	union {
		int64_t integer;
		double real;
		const char *text; /* at most TABLE_CELL_BYTES_MAX; may be of a traced program: not escaped */
	};
};

struct script_table {
	const char *script; /* its name; filled in by the host */
	const char *title;
	enum table_view view;
	struct table_column columns[TABLE_COLUMNS_MAX];
	size_t column_count;
	const struct table_cell *cells; /* row by row */
	size_t row_count;
	uint64_t rows_left_out; /* above the limits */
	uint64_t texts_cut;     /* cells whose text was longer */
};

/* "ns", "bytes", "count"; NULL: UNIT_NONE. As scripts and JSON have them. */
const char *table_unit_name(enum table_unit unit);

/* "table", "bars", "line", "histogram". */
const char *table_view_name(enum table_view view);

/* Whether the number means anything: not infinite, and no NaN. */
bool table_cell_is_finite(const struct table_cell *cell);
