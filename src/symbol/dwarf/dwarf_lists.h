/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists of .debug_addr and .debug_str_offsets: from DWARF 5 on, a unit may tell an address or a
 * string by its number in one of these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_lists;
struct dwarf_units;
struct elf_file;

/*
 * Borrows both. base: the attribute by which a unit gives its list; value_bytes: the size of what
 * is in it.
 */
struct dwarf_lists *dwarf_lists_new(struct dwarf_units *units, const struct elf_file *file, const char *section,
				    unsigned int base, unsigned int value_bytes);
void dwarf_lists_free(struct dwarf_lists *lists);

/* Calls for each unit whose list has the value, with its number there, until one returns true. */
bool dwarf_lists_find(struct dwarf_lists *lists, uint64_t value,
		      bool (*on_unit)(void *data, size_t unit, uint64_t number), void *data);
