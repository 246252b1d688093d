/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of an address, from .debug_line (DWARF 2 to 5). libdw would build a table of every
 * unit it is asked about and keep it, 0.4 MB for one of C++: here the last unit's is kept.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct line_table;

struct line_row {
	uint64_t address;
	uint32_t file; /* number in the unit's list of files */
	uint32_t line; /* 0: of no line */
};

/* Borrows elf, whose debug sections are unpacked: libdw has opened it. Never NULL. */
struct line_table *line_table_new(Elf *elf);
void line_table_free(struct line_table *table);

/* unit: place of the unit's program in .debug_line. False when the address has no line. */
bool line_table_find(struct line_table *table, uint64_t unit, uint64_t address, struct line_row *row);

/*
 * The name of a file in the unit's list, and the folder it is relative to: NULL for the one where
 * the compiler ran. Both point into the file.
 */
bool line_table_file(struct line_table *table, uint64_t unit, uint64_t number, const char **folder, const char **name);
