/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of statistics as JSON: the same for pinch dump and for the page. */
#pragma once

struct json;
struct script_table;

/*
 * Puts {"script", "title", "show", "columns": [{"name", "unit"}], "rows": [[...]], "rows_left_out", "texts_cut"}, on one line. Numbers
 * that are not finite are null, as empty cells are.
 */
void script_table_put_json(struct json *json, const struct script_table *table);
