/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libdw's own functions for this follow references without end where they lead in a circle. */
#include "symbol/dwarf/dwarf_type.h"

#include <dwarf.h>
#include "symbol/dwarf/dwarf_definitions.h"
#include "symbol/dwarf/dwarf_file.h"

enum {
	CHAIN_MAX = 64,   /* typedefs of typedefs */
	NESTING_MAX = 16, /* arrays of arrays */
	POINTER_BYTES = 8,
};

/* --- References ----------------------------------------------------------------------------- */

bool dwarf_type_of(const struct dwarf_file *file, Dwarf_Die *entry, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die whole;

	if (!dwarf_attr_integrate(entry, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
		return false;
	/* Declared here, with all that is in it in a unit of its own, or somewhere else. */
	if (dwarf_attr(type, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &whole))
		*type = whole;
	else if (dwarf_type_is_aggregate(type) && dwarf_hasattr(type, DW_AT_declaration))
		dwarf_definitions_find(file->definitions, file->dwarf, type);
	return true;
}

bool dwarf_type_is_aggregate(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool dwarf_type_is_qualifier(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	}
	return false;
}

/* The type without typedefs and qualifiers. False when that has no end. */
static bool peel(const struct dwarf_file *file, Dwarf_Die *type)
{
	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Die inner;

		if (dwarf_tag(type) != DW_TAG_typedef && !dwarf_type_is_qualifier(type))
			return true;
		if (!dwarf_type_of(file, type, &inner))
			return false;
		*type = inner;
	}
	return false;
}

/* --- Sizes ---------------------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *entry, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, name, &attribute) && !dwarf_formudata(&attribute, number);
}

static void add_dimension(struct dwarf_array *array, Dwarf_Die *range)
{
	uint64_t first = 0, count = 0, last;

	number_of(range, DW_AT_lower_bound, &first);
	if (!number_of(range, DW_AT_count, &count) && number_of(range, DW_AT_upper_bound, &last) && last + 1 > first)
		count = last + 1 - first;
	array->dimensions[array->dimension_count].first = first;
	array->dimensions[array->dimension_count++].count = count;
}

static bool size_of(const struct dwarf_file *file, Dwarf_Die type, unsigned int nesting, uint64_t *size_bytes);

static bool read_array(const struct dwarf_file *file, Dwarf_Die *type, unsigned int nesting, struct dwarf_array *array)
{
	Dwarf_Die range;

	array->dimension_count = 0;
	if (!dwarf_type_of(file, type, &array->element) || dwarf_hasattr(type, DW_AT_GNU_vector) ||
	    dwarf_child(type, &range))
		return false;
	if (!number_of(type, DW_AT_byte_stride, &array->stride) &&
	    !size_of(file, array->element, nesting, &array->stride))
		return false;
	do {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (array->dimension_count == DWARF_DIMENSIONS_MAX)
			return false;
		add_dimension(array, &range);
		if (array->dimension_count > 1 && !array->dimensions[array->dimension_count - 1].count)
			return false;
	} while (!dwarf_siblingof(&range, &range));
	return array->dimension_count && array->stride;
}

bool dwarf_type_array(const struct dwarf_file *file, Dwarf_Die *type, struct dwarf_array *array)
{
	return read_array(file, type, 0, array);
}

static bool size_of(const struct dwarf_file *file, Dwarf_Die type, unsigned int nesting, uint64_t *size_bytes)
{
	struct dwarf_array array;

	if (nesting > NESTING_MAX || !peel(file, &type))
		return false;
	if (number_of(&type, DW_AT_byte_size, size_bytes))
		return true;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*size_bytes = POINTER_BYTES;
		return true;
	case DW_TAG_array_type:
		if (!read_array(file, &type, nesting + 1, &array))
			return false;
		*size_bytes = array.stride;
		for (size_t i = 0; i < array.dimension_count; i++)
			if (__builtin_mul_overflow(*size_bytes, array.dimensions[i].count, size_bytes))
				return false;
		return *size_bytes;
	}
	return false;
}

bool dwarf_type_size(const struct dwarf_file *file, Dwarf_Die *type, uint64_t *size_bytes)
{
	return size_of(file, *type, 0, size_bytes);
}
