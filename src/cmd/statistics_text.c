/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/statistics_text.h"

#include <inttypes.h>

#include "activity/script_table.h"
#include "base/text.h"

enum { GAP_COLUMNS = 2 };

struct column_layout {
	size_t width; /* in columns of the terminal */
	bool is_right;
};

/* The words of a number that is not negative, in its unit. */
static void put_magnitude(struct text *out, double value, enum table_unit unit)
{
	switch (unit) {
	case UNIT_NS:
		text_put_duration(out, (uint64_t)(value + 0.5));
		break;
	case UNIT_BYTES:
		text_put_size(out, (uint64_t)(value + 0.5));
		break;
	default:
		text_put_count(out, (uint64_t)(value + 0.5));
		break;
	}
}

/* Numbers that words have no space for stay digits. */
static void put_number(struct text *out, const struct table_cell *cell, enum table_unit unit)
{
	double value = cell->type == CELL_INTEGER ? (double)cell->integer : cell->real;

	if (!table_cell_is_finite(cell)) {
		text_put(out, "-");
	} else if (unit == UNIT_NONE || value >= 9e18 || value <= -9e18) {
		if (cell->type == CELL_INTEGER)
			text_printf(out, "%" PRId64, cell->integer);
		else
			text_printf(out, "%.6g", value);
	} else {
		if (value < 0)
			text_put(out, "-");
		put_magnitude(out, value < 0 ? -value : value, unit);
	}
}

static void put_cell(struct text *out, const struct script_table *table, size_t row, size_t column)
{
	const struct table_cell *cell = &table->cells[row * table->column_count + column];

	if (cell->type == CELL_TEXT)
		text_put_escaped(out, cell->text);
	else if (cell->type != CELL_EMPTY)
		put_number(out, cell, table->columns[column].unit);
}

/* A column of numbers is aligned at the right. */
static bool is_of_numbers(const struct script_table *table, size_t column)
{
	for (size_t row = 0; row < table->row_count; row++)
		if (table->cells[row * table->column_count + column].type == CELL_TEXT)
			return false;
	return table->row_count;
}

static size_t columns_of(const struct text *text)
{
	return text->length ? text_columns(text->bytes) : 0;
}

static size_t width_of(const struct script_table *table, size_t column, struct text *words)
{
	size_t width;

	words->length = 0;
	text_put_escaped(words, table->columns[column].name);
	width = columns_of(words);
	for (size_t row = 0; row < table->row_count; row++) {
		words->length = 0;
		put_cell(words, table, row, column);
		if (columns_of(words) > width)
			width = columns_of(words);
	}
	return width;
}

static void put_spaces(struct text *out, size_t count)
{
	while (count--)
		text_put(out, " ");
}

/* The last one on its line has no spaces behind it. */
static void put_aligned(struct text *out, const struct text *words, const struct column_layout *layout, bool is_last)
{
	size_t spaces = layout->width - columns_of(words);

	if (layout->is_right)
		put_spaces(out, spaces);
	if (words->length)
		text_put_bytes(out, words->bytes, words->length);
	if (!is_last)
		put_spaces(out, (layout->is_right ? 0 : spaces) + GAP_COLUMNS);
}

/* row: SIZE_MAX: the names of the columns. */
static void put_row(struct text *out, const struct script_table *table, const struct column_layout *layout, size_t row)
{
	struct text words = { 0 };

	for (size_t i = 0; i < table->column_count; i++) {
		words.length = 0;
		if (row == SIZE_MAX)
			text_put_escaped(&words, table->columns[i].name);
		else
			put_cell(&words, table, row, i);
		put_aligned(out, &words, &layout[i], i + 1 == table->column_count);
	}
	text_put(out, "\n");
	text_fini(&words);
}

static void put_left_out(struct text *out, const struct script_table *table)
{
	if (table->rows_left_out) {
		text_put_count(out, table->rows_left_out);
		text_put(out, " rows are left out\n");
	}
	if (table->texts_cut) {
		text_put_count(out, table->texts_cut);
		text_printf(out, " texts are cut after %d bytes\n", TABLE_CELL_BYTES_MAX);
	}
}

void statistics_text_put(struct text *out, const struct script_table *table)
{
	struct column_layout layout[TABLE_COLUMNS_MAX];
	struct text words = { 0 };

	for (size_t i = 0; i < table->column_count; i++)
		layout[i] = (struct column_layout){ width_of(table, i, &words), is_of_numbers(table, i) };
	text_fini(&words);
	text_put_escaped(out, table->title);
	text_put(out, " (");
	text_put_escaped(out, table->script);
	text_put(out, ")\n");
	put_row(out, table, layout, SIZE_MAX);
	for (size_t row = 0; row < table->row_count; row++)
		put_row(out, table, layout, row);
	put_left_out(out, table);
	text_put(out, "\n");
}
