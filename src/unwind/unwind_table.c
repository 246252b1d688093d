/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"

enum { BLOCK_BYTES = 1 << UNWIND_BLOCK_BITS };

_Static_assert(sizeof(struct unwind_row) == sizeof(uint64_t) && sizeof(struct unwind_block) == sizeof(uint64_t),
	       "each takes one unit");

void unwind_table_add(struct unwind_table *table, uint64_t address, uint32_t rule)
{
	struct unwind_row *last = table->row_count ? &table->rows[table->row_count - 1] : NULL;
	uint64_t pc;

	if (!table->row_count)
		table->base = address & -(uint64_t)BLOCK_BYTES;
	pc = address - table->base;
	if (pc > UINT32_MAX) {
		table->size_bytes = UINT64_MAX - table->base < UINT32_MAX ? UINT64_MAX - table->base : UINT32_MAX;
		return;
	}
	if (!rule)
		table->size_bytes = pc;
	if (last && last->pc == pc)
		last->rule = rule;
	if (last && (last->pc == pc || last->rule == rule))
		return;
	ARRAY_GROW(table->rows, table->row_count, table->row_capacity, 4096);
	table->rows[table->row_count++] = (struct unwind_row){ pc, rule };
}

static void on_row(void *data, uint64_t address, uint32_t rule)
{
	unwind_table_add(data, address, rule);
}

void unwind_table_build(const struct cfi_section *section, struct unwind_table *table, struct cfi_counts *counts)
{
	*table = (struct unwind_table){ 0 };
	cfi_read(section, on_row, table, counts);
}

/* Takes the next row when it lies at address. */
static void take_row(const struct unwind_table *table, uint64_t address, uint32_t *next, uint32_t *rule)
{
	if (*next < table->row_count && table->base + table->rows[*next].pc == address)
		*rule = table->rows[(*next)++].rule;
}

void unwind_table_merge(struct unwind_table *table, const struct unwind_table *more)
{
	uint64_t end = table->base + table->size_bytes, more_end = more->base + more->size_bytes;
	uint32_t row = 0, more_row = 0, rule = 0, more_rule = 0;
	struct unwind_table merged = { 0 };

	while (row < table->row_count || more_row < more->row_count) {
		uint64_t address = UINT64_MAX;

		if (row < table->row_count)
			address = table->base + table->rows[row].pc;
		if (more_row < more->row_count && more->base + more->rows[more_row].pc < address)
			address = more->base + more->rows[more_row].pc;
		take_row(table, address, &row, &rule);
		take_row(more, address, &more_row, &more_rule);
		unwind_table_add(&merged, address, rule ? rule : more_rule);
	}
	/* One that was cut after 4 GB has no row that says so. */
	if (merged.row_count)
		unwind_table_add(&merged, end > more_end ? end : more_end, UNWIND_NONE);
	unwind_table_fini(table);
	*table = merged;
}

/* Index of the last row at or before pc; row_count when there is none. */
static uint32_t row_at(const struct unwind_table *table, uint32_t pc)
{
	uint32_t low = BOUND(0, table->row_count, i, table->rows[i].pc <= pc);

	return low ? low - 1 : table->row_count;
}

uint32_t unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	uint64_t pc = address - table->base;
	uint32_t row;

	if (address < table->base || pc >= table->size_bytes)
		return 0;
	row = row_at(table, pc);
	return row < table->row_count ? table->rows[row].rule : 0;
}

static void insert_row(struct unwind_table *table, uint32_t index, struct unwind_row row)
{
	table->rows = xrealloc(table->rows, table->row_count + 1, sizeof(*table->rows));
	table->row_capacity = table->row_count + 1;
	memmove(&table->rows[index + 1], &table->rows[index], (table->row_count++ - index) * sizeof(*table->rows));
	table->rows[index] = row;
}

/* So that the table begins with the block of address. */
static bool begin_earlier(struct unwind_table *table, uint64_t address)
{
	uint64_t shift = table->base - (address & -(uint64_t)BLOCK_BYTES);

	if (shift + table->size_bytes > UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < table->row_count; i++)
		table->rows[i].pc += shift;
	table->base -= shift;
	table->size_bytes += shift;
	return true;
}

void unwind_table_mark_end(struct unwind_table *table, uint64_t address)
{
	uint32_t index;
	uint64_t pc;

	if (!table->row_count || unwind_table_find(table, address) ||
	    (address < table->base && !begin_earlier(table, address)))
		return;
	pc = address - table->base;
	if (pc >= table->size_bytes)
		return;
	index = row_at(table, pc);
	index = index == table->row_count ? 0 : index + 1;
	if (index && table->rows[index - 1].pc == pc)
		table->rows[index - 1].rule = UNWIND_END;
	else
		insert_row(table, index, (struct unwind_row){ pc, UNWIND_END });
}

void unwind_table_fini(struct unwind_table *table)
{
	free(table->rows);
	*table = (struct unwind_table){ 0 };
}

bool unwind_table_is_valid(const struct unwind_table *table)
{
	if (table->base % BLOCK_BYTES || table->size_bytes > UINT32_MAX ||
	    table->base + table->size_bytes < table->base)
		return false;
	for (uint32_t i = 1; i < table->row_count; i++)
		if (table->rows[i].pc <= table->rows[i - 1].pc)
			return false;
	return !table->row_count || table->rows[table->row_count - 1].pc <= table->size_bytes;
}

/* The first row from the one at index on that begins at or after pc. */
static uint32_t next_from(const struct unwind_table *table, uint32_t row, uint64_t pc)
{
	while (row < table->row_count && table->rows[row].pc < pc)
		row++;
	return row;
}

struct unwind_part unwind_part_at(const struct unwind_table *table, uint64_t address, uint32_t units_max)
{
	uint64_t pc = address - table->base;
	uint32_t before = row_at(table, pc), row;
	struct unwind_part part = {
		.base = address,
		.first_row = before == table->row_count ? 0 : before + 1,
	};

	row = part.first_row;
	while (pc < table->size_bytes) {
		uint32_t next = next_from(table, row, pc + BLOCK_BYTES);

		if (part.block_count + 1 + 1 + next - part.first_row > units_max)
			break;
		part.block_count++;
		pc += BLOCK_BYTES;
		row = next;
	}
	part.row_count = 1 + row - part.first_row;
	return part;
}

void unwind_part_write(const struct unwind_table *table, const struct unwind_part *part, uint64_t *units)
{
	struct unwind_block *blocks = (struct unwind_block *)units;
	struct unwind_row *rows = (struct unwind_row *)(units + part->block_count);
	uint32_t base_pc = part->base - table->base, at = 0, last = 0;

	rows[0] = (struct unwind_row){ 0, unwind_table_find(table, part->base) };
	for (uint32_t i = 1; i < part->row_count; i++) {
		const struct unwind_row *row = &table->rows[part->first_row + i - 1];

		rows[i] = (struct unwind_row){ row->pc - base_pc, row->rule };
	}
	for (uint32_t block = 0; block < part->block_count; block++) {
		uint64_t begin = (uint64_t)block * BLOCK_BYTES, end = begin + BLOCK_BYTES;

		while (at + 1 < part->row_count && rows[at + 1].pc <= begin)
			at++;
		while (last + 1 < part->row_count && rows[last + 1].pc < end)
			last++;
		blocks[block] = (struct unwind_block){ at, last - at + 1 };
	}
}
