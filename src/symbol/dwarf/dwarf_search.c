/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_search.h"

#include <dwarf.h>

#include "symbol/dwarf/dwarf_units.h"

enum {
	ENTRIES_MAX = 1 << 22, /* half a second */
	DEPTH_MAX = 64,
};

/* Passes over the places before one. */
static void skip_places(struct dwarf_search *search, uint64_t before)
{
	while (search->count && *search->places < before) {
		search->places++;
		search->count--;
	}
}

static bool find_below(struct dwarf_search *search, Dwarf_Die *parent, uint64_t end, unsigned int depth);

/* Looks at an entry and at those below it; the next one begins at end. */
static bool find_in(struct dwarf_search *search, Dwarf_Die *entry, uint64_t end, unsigned int depth)
{
	int tag = dwarf_tag(entry);

	if (*search->places >= end)
		return false;
	if (search->is_wanted(search->data, entry)) {
		search->entry = *entry;
		return true;
	}
	if (!find_below(search, entry, end, depth + 1))
		return false;
	if (!search->has_function && (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)) {
		search->function = *entry;
		search->has_function = true;
	}
	return true;
}

/* Looks at the entries below one that ends at a place, as far as they have places in them. */
static bool find_below(struct dwarf_search *search, Dwarf_Die *parent, uint64_t end, unsigned int depth)
{
	Dwarf_Die entry, next;

	if (depth > DEPTH_MAX || dwarf_child(parent, &entry))
		return false;
	while (++search->entry_count <= ENTRIES_MAX) {
		bool is_last = dwarf_siblingof(&entry, &next) != 0;

		skip_places(search, dwarf_dieoffset(&entry));
		if (!search->count || *search->places >= end)
			return false;
		if (find_in(search, &entry, is_last ? end : dwarf_dieoffset(&next), depth))
			return true;
		if (is_last)
			return false;
		entry = next;
	}
	return false;
}

bool dwarf_search_places(struct dwarf_search *search, struct dwarf_units *units)
{
	uint64_t start, end;
	Dwarf_Die unit;
	size_t number;

	search->has_function = false;
	while (search->count && search->entry_count <= ENTRIES_MAX) {
		if (!dwarf_units_at(units, *search->places, &number))
			return false;
		if (!dwarf_units_nth(units, number, &unit, &start, &end)) {
			skip_places(search, *search->places + 1);
			continue;
		}
		if (find_below(search, &unit, end, 0))
			return true;
		skip_places(search, end);
	}
	return false;
}

/* What types are declared in; local ones are nobody's but their function's. */
static bool is_scope(Dwarf_Die *entry)
{
	switch (dwarf_tag(entry)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	}
	return false;
}

static bool find_in_scopes(struct dwarf_search *search, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die entry;

	if (depth > DEPTH_MAX || dwarf_child(parent, &entry))
		return false;
	do {
		if (++search->entry_count > ENTRIES_MAX)
			return false;
		if (search->is_wanted(search->data, &entry)) {
			search->entry = entry;
			return true;
		}
		if (is_scope(&entry) && find_in_scopes(search, &entry, depth + 1))
			return true;
	} while (!dwarf_siblingof(&entry, &entry));
	return false;
}

bool dwarf_search_unit(struct dwarf_search *search, struct dwarf_units *units, size_t number)
{
	uint64_t start, end;
	Dwarf_Die unit;

	search->has_function = false;
	return search->entry_count <= ENTRIES_MAX && dwarf_units_nth(units, number, &unit, &start, &end) &&
	       find_in_scopes(search, &unit, 0);
}
