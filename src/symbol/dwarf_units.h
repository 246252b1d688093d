/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which unit and which function of the debug information hold an address. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dwarf_units;

/* Borrows dwarf. */
struct dwarf_units *dwarf_units_new(Dwarf *dwarf);
void dwarf_units_free(struct dwarf_units *units);

/* Finds the unit, and its function if it has one there: *has_function. */
bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit,
		      Dwarf_Die *function, bool *has_function);
