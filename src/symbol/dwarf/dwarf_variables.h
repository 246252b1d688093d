/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug entries of variables, by address: of global ones and of those static in functions. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dwarf_file;
struct dwarf_variables;

/* Reads all of .debug_info once, as bytes. Borrows the file. */
struct dwarf_variables *dwarf_variables_new(const struct dwarf_file *file);
void dwarf_variables_free(struct dwarf_variables *variables);

struct dwarf_variable {
	Dwarf_Die entry;
	bool has_function;
	Dwarf_Die function; /* that it is static in */
};

/* The variable that begins at an address. */
bool dwarf_variables_find(struct dwarf_variables *variables, uint64_t address, struct dwarf_variable *variable);
