/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where types are defined that a unit only declares: compilers describe a class with virtual
 * functions, and clang each class with a constructor, in one unit of a program only.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

struct dwarf_definitions;
struct dwarf_units;
struct elf_file;

/* Borrows both. */
struct dwarf_definitions *dwarf_definitions_new(struct dwarf_units *units, const struct elf_file *file);
void dwarf_definitions_free(struct dwarf_definitions *definitions);

/* Puts the definition in the place of a declared type. Reads all of the file, once for a type. */
bool dwarf_definitions_find(struct dwarf_definitions *definitions, Dwarf *dwarf, Dwarf_Die *type);
