/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules for all code of a file, and the form in which the BPF programs read them
 * (unwind_format.h).
 *
 * Owns: unwind tables: made of call frame information, written, and followed.
 * Used by: symbol/elf, symbol/python, symbol/ruby, symbol/v8, symbol/object, symbol/space, symbol/worker, symbol/names, symbol, collect/unwind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind_format.h"

/* Rows rise strictly, and each differs from the one before. */
struct unwind_table {
	uint64_t base;       /* the address that pc 0 stands for */
	uint64_t size_bytes; /* of the code that it covers */
	struct unwind_row *rows;
	uint32_t row_count, row_capacity;
};

/*
 * From address, not below that of the call before, up to the next one this rule holds; the last
 * one is UNWIND_NONE. Code beyond 4 GB of the first is left out.
 */
void unwind_table_add(struct unwind_table *table, uint64_t address, uint32_t rule);

/* Empty when the section describes no function. Code beyond 4 GB of the first is left out. */
void unwind_table_build(const struct cfi_section *section, struct unwind_table *table, struct cfi_counts *counts);
void unwind_table_fini(struct unwind_table *table);

/* Adds the rules of another table for code of which this one knows none. */
void unwind_table_merge(struct unwind_table *table, const struct unwind_table *more);

/*
 * Nobody calls the code at address, up to where the next row begins. Nothing changes where a rule
 * is known.
 */
void unwind_table_mark_end(struct unwind_table *table, uint64_t address);

/* Whether rows are as they should be: tables come from another process. */
bool unwind_table_is_valid(const struct unwind_table *table);

/* The rule at an address; 0 when there is none. */
uint32_t unwind_table_find(const struct unwind_table *table, uint64_t address);

/* As much of a table as fits in one chunk. */
struct unwind_part {
	uint64_t base; /* address; a multiple of a block from the table's */
	uint32_t block_count;
	uint32_t first_row; /* of the table: the first that begins after base */
	uint32_t row_count; /* one more, for what holds at base */
};

/*
 * The part that begins at an address of the table, a multiple of a block from its base, and takes
 * at most so many units: part->block_count + part->row_count. At least UNWIND_BLOCK_ROWS_MAX + 1.
 */
struct unwind_part unwind_part_at(const struct unwind_table *table, uint64_t address, uint32_t units_max);

/* Writes blocks and rows. */
void unwind_part_write(const struct unwind_table *table, const struct unwind_part *part, uint64_t *units);
