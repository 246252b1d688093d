/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/script_table_json.h"

#include "activity/script_table.h"
#include "base/json.h"

static void put_string(struct json *json, const char *key, const char *string)
{
	json_key(json, key);
	json_string(json, string);
}

static void put_columns(struct json *json, const struct script_table *table)
{
	json_key(json, "columns");
	json_begin_array(json);
	for (size_t i = 0; i < table->column_count; i++) {
		json_begin_object(json);
		put_string(json, "name", table->columns[i].name);
		put_string(json, "unit", table_unit_name(table->columns[i].unit));
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_cell(struct json *json, const struct table_cell *cell)
{
	switch (cell->type) {
	case CELL_EMPTY:
		json_null(json);
		break;
	case CELL_INTEGER:
		json_int(json, cell->integer);
		break;
	case CELL_REAL:
		json_double(json, cell->real);
		break;
	case CELL_TEXT:
		json_string(json, cell->text);
		break;
	}
}

static void put_rows(struct json *json, const struct script_table *table)
{
	json_key(json, "rows");
	json_begin_array(json);
	for (size_t row = 0; row < table->row_count; row++) {
		json_begin_array(json);
		for (size_t i = 0; i < table->column_count; i++)
			put_cell(json, &table->cells[row * table->column_count + i]);
		json_end_array(json);
	}
	json_end_array(json);
}

void script_table_put_json(struct json *json, const struct script_table *table)
{
	json_on_one_line(json);
	json_begin_object(json);
	put_string(json, "script", table->script);
	put_string(json, "title", table->title);
	put_string(json, "show", table_view_name(table->view));
	put_columns(json, table);
	put_rows(json, table);
	json_key(json, "rows_left_out");
	json_uint(json, table->rows_left_out);
	json_key(json, "texts_cut");
	json_uint(json, table->texts_cut);
	json_end_object(json);
}
