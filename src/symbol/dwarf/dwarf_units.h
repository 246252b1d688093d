/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which unit and which function of the debug information hold an address. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_units;
struct elf_file;

/* Borrows both. The file's pages are released now and then while it is read. */
struct dwarf_units *dwarf_units_new(Dwarf *dwarf, const struct elf_file *file);
void dwarf_units_free(struct dwarf_units *units);

/* Goes on with a fresh Dwarf of the same file. */
void dwarf_units_reset(struct dwarf_units *units, Dwarf *dwarf);

/* Finds the unit, and its function if it has one there: *has_function. */
bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function,
		      bool *has_function);

/* How many units there are, in .debug_info. */
size_t dwarf_units_count(struct dwarf_units *units);

/* A unit and the part of .debug_info that it takes. False when libdw cannot read it. */
bool dwarf_units_nth(struct dwarf_units *units, size_t number, Dwarf_Die *unit, uint64_t *start, uint64_t *end);

/* The number of the unit that has this place of .debug_info. False when it is in none. */
bool dwarf_units_at(struct dwarf_units *units, uint64_t place, size_t *number);
