/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/decode/script_tables.h"

#include <stdlib.h>
#include <string.h>

#include "activity/script_table.h"
#include "base/memory.h"

struct script_tables {
	struct arena *arena; /* of all that tables point to; NULL: there are none */
	struct script_table *list;
	size_t count, capacity;
	uint64_t left_out;
};

struct script_tables *script_tables_new(void)
{
	return xcalloc(1, sizeof(struct script_tables));
}

void script_tables_clear(struct script_tables *tables)
{
	arena_free(tables->arena);
	tables->arena = NULL;
	tables->count = 0;
	tables->left_out = 0;
}

void script_tables_free(struct script_tables *tables)
{
	if (!tables)
		return;
	script_tables_clear(tables);
	free(tables->list);
	free(tables);
}

static size_t count_of(const struct script_tables *tables, const char *script)
{
	size_t count = 0;

	for (size_t i = 0; i < tables->count; i++)
		count += !strcmp(tables->list[i].script, script);
	return count;
}

static const struct table_cell *copy_cells(struct arena *arena, const struct script_table *table)
{
	size_t count = table->row_count * table->column_count;
	struct table_cell *cells = arena_alloc(arena, count * sizeof(*cells));

	for (size_t i = 0; i < count; i++) {
		cells[i] = table->cells[i];
		if (cells[i].type == CELL_TEXT)
			cells[i].text = arena_strdup(arena, cells[i].text);
	}
	return cells;
}

void script_tables_add(struct script_tables *tables, const char *script, const struct script_table *table)
{
	struct script_table *copy;

	if (count_of(tables, script) == TABLES_MAX) {
		tables->left_out++;
		return;
	}
	if (!tables->arena)
		tables->arena = arena_new();
	ARRAY_GROW(tables->list, tables->count, tables->capacity, TABLES_MAX);
	copy = &tables->list[tables->count++];
	*copy = *table;
	copy->script = arena_strdup(tables->arena, script);
	copy->title = arena_strdup(tables->arena, table->title);
	for (size_t i = 0; i < table->column_count; i++)
		copy->columns[i].name = arena_strdup(tables->arena, table->columns[i].name);
	copy->cells = copy_cells(tables->arena, table);
}

const struct script_table *script_tables_get(const struct script_tables *tables, size_t i)
{
	return i < tables->count ? &tables->list[i] : NULL;
}

uint64_t script_tables_left_out(const struct script_tables *tables)
{
	return tables->left_out;
}
