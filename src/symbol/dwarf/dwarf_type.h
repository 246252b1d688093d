/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types in debug information: what they are made of, and how large they are. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_file;

/* The type of a variable, a member, or of what another type is made of. False for none. */
bool dwarf_type_of(const struct dwarf_file *file, Dwarf_Die *entry, Dwarf_Die *type);

/* True for a structure, a class or a union. */
bool dwarf_type_is_aggregate(Dwarf_Die *type);

/* True for what only qualifies a type: const, volatile and the like. */
bool dwarf_type_is_qualifier(Dwarf_Die *type);

/* The size of what has the type. False when it is unknown. */
bool dwarf_type_size(const struct dwarf_file *file, Dwarf_Die *type, uint64_t *size_bytes);

enum { DWARF_DIMENSIONS_MAX = 16 };

struct dwarf_array {
	Dwarf_Die element;
	uint64_t stride; /* bytes from an element to the next, not 0 */
	size_t dimension_count;
	struct {
		uint64_t first, count; /* count 0: unknown, of the first dimension only */
	} dimensions[DWARF_DIMENSIONS_MAX];
};

/* What is in an array. False when its elements cannot be distinguished. */
bool dwarf_type_array(const struct dwarf_file *file, Dwarf_Die *type, struct dwarf_array *array);
