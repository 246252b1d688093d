/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/module_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/unwind/unwind_memory.h"
#include "symbol/symbol.h"
#include "unwind/unwind_table.h"

struct module_tables {
	struct symbols *symbols;
	struct unwind_memory *memory;
	struct table *by_number;              /* struct module_table */
	struct module_table *oldest, *newest; /* of those without a user */
	bool has_news;
	size_t count;
	uint64_t dropped;
};

struct module_tables *module_tables_new(struct symbols *symbols, struct unwind_memory *memory)
{
	struct module_tables *tables = xcalloc(1, sizeof(*tables));

	tables->symbols = symbols;
	tables->memory = memory;
	tables->by_number = table_new();
	return tables;
}

void module_tables_free(struct module_tables *tables)
{
	struct module_table *module;
	size_t cursor = 0;

	while ((module = table_next(tables->by_number, &cursor))) {
		free(module->parts);
		free(module);
	}
	table_free(tables->by_number);
	free(tables);
}

/* Among those without a user it is the newest one. */
static void add_unused(struct module_tables *tables, struct module_table *module)
{
	module->older = tables->newest;
	module->newer = NULL;
	*(module->older ? &module->older->newer : &tables->oldest) = module;
	tables->newest = module;
}

static void remove_unused(struct module_tables *tables, struct module_table *module)
{
	*(module->older ? &module->older->newer : &tables->oldest) = module->newer;
	*(module->newer ? &module->newer->older : &tables->newest) = module->older;
}

static void module_forget(struct module_tables *tables, struct module_table *module)
{
	for (uint32_t i = 0; i < module->part_count; i++)
		unwind_memory_give(tables->memory, module->parts[i].place, module->parts[i].unit_count);
	tables->count -= module->part_count > 0;
	table_take(tables->by_number, module->number);
	free(module->parts);
	free(module);
}

void module_tables_evict(struct module_tables *tables, uint64_t units_max)
{
	struct module_table *module;

	while ((module = tables->oldest) && unwind_memory_used(tables->memory) > units_max) {
		remove_unused(tables, module);
		module_forget(tables, module);
	}
}

bool module_tables_take_units(struct module_tables *tables, uint32_t count, uint32_t *place)
{
	if (unwind_memory_take(tables->memory, count, place))
		return true;
	if (!unwind_memory_grow(tables->memory))
		module_tables_evict(tables, 0);
	if (unwind_memory_take(tables->memory, count, place))
		return true;
	tables->dropped++;
	return false;
}

/* False: no memory for all of it. */
static bool load_parts(struct module_tables *tables, const struct unwind_table *table, struct module_table *module)
{
	uint64_t address = table->base, end = table->base + table->size_bytes;

	while (address < end) {
		uint32_t largest = unwind_memory_largest(tables->memory);
		struct unwind_part part = unwind_part_at(table, address, UNWIND_CHUNK_UNITS);
		struct table_part *loaded;
		uint32_t place;

		/* Rather fill a chunk than leave much of it empty. */
		if (part.block_count + part.row_count > largest && largest > UNWIND_CHUNK_UNITS / 4)
			part = unwind_part_at(table, address, largest);
		if (!part.block_count || !module_tables_take_units(tables, part.block_count + part.row_count, &place))
			return false;
		unwind_part_write(table, &part, unwind_memory_units(tables->memory, place));
		module->parts = xrealloc(module->parts, module->part_count + 1, sizeof(*module->parts));
		loaded = &module->parts[module->part_count++];
		*loaded = (struct table_part){
			.base = address,
			.place = place,
			.block_count = part.block_count,
			.unit_count = part.block_count + part.row_count,
			.end = address + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS),
		};
		address = loaded->end;
	}
	return true;
}

static void on_table(void *data, uint32_t number, int err, struct unwind_file *file)
{
	struct module_tables *tables = data;
	struct module_table *module = table_find(tables->by_number, number);

	/* It was given up and asked for again since: one of both answers is enough. */
	if (module && !module->is_awaited)
		module = NULL;
	if (module)
		module->is_awaited = false;
	if (module && !module->user_count) {
		/* Nobody maps the file any more. */
		remove_unused(tables, module);
		module_forget(tables, module);
		module = NULL;
	}
	if (module && !err) {
		memcpy(module->segments, file->segments, sizeof(module->segments));
		module->segment_count = file->segment_count;
		module->python = file->python;
		module->ruby = file->ruby;
		module->v8 = file->v8;
		module->is_cut = !load_parts(tables, &file->table, module);
		tables->count += module->part_count > 0;
	}
	if (!err)
		unwind_file_fini(file);
	tables->has_news |= module != NULL;
}

static struct module_table *module_load(struct module_tables *tables, uint32_t number)
{
	struct module_table *module = xcalloc(1, sizeof(*module));

	module->number = number;
	table_put(tables->by_number, number, module);
	module->is_awaited = !symbols_ask_unwind_file(tables->symbols, number, on_table, tables);
	return module;
}

struct module_table *module_tables_use(struct module_tables *tables, uint32_t number)
{
	struct module_table *module = table_find(tables->by_number, number);

	if (!module)
		module = module_load(tables, number);
	else if (!module->user_count)
		remove_unused(tables, module);
	module->user_count++;
	return module;
}

void module_tables_release(struct module_tables *tables, struct module_table *module)
{
	if (--module->user_count)
		return;
	if (module->is_cut && !module->is_awaited)
		module_forget(tables, module);
	else
		add_unused(tables, module);
}

bool module_tables_take_news(struct module_tables *tables)
{
	bool has_news = tables->has_news;

	tables->has_news = false;
	return has_news;
}

size_t module_tables_count(const struct module_tables *tables)
{
	return tables->count;
}

uint64_t module_tables_dropped(const struct module_tables *tables)
{
	return tables->dropped;
}
