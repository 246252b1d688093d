/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cuts a table into parts, and makes a range for each, as the engine does (unwinder.c). */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "unwind/unwind_table.h"

enum { RANGE_UNITS = sizeof(struct unwind_range) / sizeof(uint64_t), LOAD_RANGES_MAX = 64 };

struct load {
	uint64_t *units; /* with load_space(), no more than are used: reading beyond shows */
	uint32_t unit_count, unit_capacity;
	struct unwind_range ranges[LOAD_RANGES_MAX];
	uint32_t range_count;
};

static inline uint64_t *load_units(struct load *load, uint32_t count)
{
	load->unit_count += count;
	if (load->unit_count >= load->unit_capacity) {
		load->unit_capacity = 2 * load->unit_count + 1;
		load->units = realloc(load->units, load->unit_capacity * sizeof(uint64_t));
	}
	return load->units + load->unit_count - count;
}

/* The parts of a table that is mapped bias higher, each of so many units at most. */
static inline void load_table(struct load *load, const struct unwind_table *table, uint64_t bias, uint32_t part_units)
{
	uint64_t address = table->base, end = table->base + table->size_bytes;

	while (address < end && load->range_count < LOAD_RANGES_MAX) {
		struct unwind_part part = unwind_part_at(table, address, part_units);
		uint32_t place = load->unit_count, count = part.block_count + part.row_count;
		uint64_t part_end = address + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS);

		if (count > part_units || !part.block_count)
			abort();
		unwind_part_write(table, &part, load_units(load, count));
		load->ranges[load->range_count++] = (struct unwind_range){
			.begin = address + bias,
			.end = part_end + bias,
			.bias = address + bias,
			.table = place,
			.block_count = part.block_count,
		};
		if (part_end < address) /* the last block of all */
			break;
		address = part_end;
	}
}

/* Puts the list of ranges behind the tables. */
static inline struct unwind_space load_space(struct load *load, uint32_t version)
{
	struct unwind_space space = {
		.ranges = load->unit_count,
		.range_count = load->range_count,
		.version = version,
	};

	memcpy(load_units(load, load->range_count * RANGE_UNITS), load->ranges,
	       load->range_count * sizeof(*load->ranges));
	load->units = realloc(load->units, (load->unit_count + 1) * sizeof(uint64_t));
	return space;
}

static inline void load_fini(struct load *load)
{
	free(load->units);
	*load = (struct load){ 0 };
}

/* What a search by addresses finds is what the rows say. */
static inline void check_table(const struct unwind_table *table)
{
	if (!unwind_table_is_valid(table))
		abort();
	for (uint32_t i = 0; i < table->row_count && i < 200; i++)
		if (table->rows[i].pc < table->size_bytes &&
		    unwind_table_find(table, table->base + table->rows[i].pc) != table->rows[i].rule)
			abort();
}
