/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .debug_aranges tells the unit of an address when the compiler wrote it: clang and some
 * linkers leave it out or make it incomplete, then the ranges of all units are read once.
 */
#include "symbol/dwarf_units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

enum {
	RANGES_MAX = 1 << 22,	/* of all units, and of the functions of one */
	ENTRIES_MAX = 1 << 24,	/* debug entries looked at in one unit: an endless list ends */
	DEPTH_MAX = 32,		/* of namespaces and classes */
	OVERLAPS_MAX = 64,	/* ranges to walk back, where ranges lie in each other */
};

struct range {
	uint64_t start, end;
	uint64_t entry;		/* offset of the unit's or the function's debug entry */
};

struct range_list {
	struct range *ranges;	/* sorted by start */
	size_t count, room;
};

struct unit {
	struct range_list functions;
	bool is_deep;		/* with those that lie within other functions */
};

struct dwarf_units {
	Dwarf *dwarf;
	Dwarf_Aranges *aranges;
	struct range_list units;
	bool has_units;		/* units is filled in */
	struct table *read;	/* struct unit by its offset + 1 */
};

struct dwarf_units *dwarf_units_new(Dwarf *dwarf)
{
	struct dwarf_units *units = xcalloc(1, sizeof(*units));

	units->dwarf = dwarf;
	units->read = table_new();
	if (dwarf_getaranges(dwarf, &units->aranges, NULL))
		units->aranges = NULL;
	return units;
}

void dwarf_units_free(struct dwarf_units *units)
{
	struct unit *unit;
	size_t cursor = 0;

	if (!units)
		return;
	while ((unit = table_next(units->read, &cursor))) {
		free(unit->functions.ranges);
		free(unit);
	}
	table_free(units->read);
	free(units->units.ranges);
	free(units);
}

static void add_ranges(struct range_list *list, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* Linkers leave ranges at 0 for functions that they removed. */
		if (end <= start || !start || list->count >= RANGES_MAX)
			continue;
		if (list->count == list->room) {
			list->room = list->room ? list->room * 2 : 16;
			list->ranges = xrealloc(list->ranges, list->room, sizeof(*list->ranges));
		}
		list->ranges[list->count++] =
			(struct range){ start, end, dwarf_dieoffset(die) };
	}
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of equal starts the shortest comes last, and is found first. */
	return (x->end < y->end) - (x->end > y->end);
}

static void sort_ranges(struct range_list *list)
{
	if (list->count)
		qsort(list->ranges, list->count, sizeof(*list->ranges), by_start);
}

static const struct range *find_range(const struct range_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t walked = 0; low-- && walked < OVERLAPS_MAX; walked++)
		if (address < list->ranges[low].end)
			return &list->ranges[low];
	return NULL;
}

static void read_units(struct dwarf_units *units)
{
	Dwarf_Off offset = 0, next, unit_count = 0;
	size_t header_bytes;

	while (unit_count++ < ENTRIES_MAX &&
	       !dwarf_nextcu(units->dwarf, offset, &next, &header_bytes, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (dwarf_offdie(units->dwarf, offset + header_bytes, &die) &&
		    dwarf_tag(&die) != DW_TAG_partial_unit)
			add_ranges(&units->units, &die);
		if (next <= offset)
			break;
		offset = next;
	}
	sort_ranges(&units->units);
	units->has_units = true;
}

static bool find_unit(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit)
{
	Dwarf_Arange *arange = NULL;
	const struct range *range;
	Dwarf_Off offset;

	if (units->aranges)
		arange = dwarf_getarange_addr(units->aranges, address);
	if (arange && !dwarf_getarangeinfo(arange, NULL, NULL, &offset) &&
	    dwarf_offdie(units->dwarf, offset, unit))
		return true;
	if (!units->has_units)
		read_units(units);
	range = find_range(&units->units, address);
	return range && dwarf_offdie(units->dwarf, range->entry, unit);
}

/*
 * True for what can hold functions besides a unit: Rust and clang put them where they belong.
 * Those of a lambda or a local class lie within another function.
 */
static bool is_scope(int tag, bool is_deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return is_deep;
	}
	return false;
}

static void add_functions(struct unit *unit, Dwarf_Die *parent, unsigned int depth,
			  size_t *entry_count)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_ranges(&unit->functions, &die);
		if (is_scope(tag, unit->is_deep))
			add_functions(unit, &die, depth + 1, entry_count);
	} while (++*entry_count < ENTRIES_MAX && !dwarf_siblingof(&die, &die));
}

static void read_functions(struct unit *unit, Dwarf_Die *die)
{
	size_t entry_count = 0;

	unit->functions.count = 0;
	add_functions(unit, die, 0, &entry_count);
	sort_ranges(&unit->functions);
}

static const struct range *find_function(struct dwarf_units *units, Dwarf_Die *die,
					 uint64_t address)
{
	uint64_t key = dwarf_dieoffset(die) + 1;
	struct unit *unit = table_find(units->read, key);
	const struct range *range;

	if (!unit) {
		unit = xcalloc(1, sizeof(*unit));
		table_put(units->read, key, unit);
		read_functions(unit, die);
	}
	range = find_range(&unit->functions, address);
	if (range || unit->is_deep)
		return range;
	/* To look into every function takes several times as long, and is seldom needed. */
	unit->is_deep = true;
	read_functions(unit, die);
	return find_range(&unit->functions, address);
}

bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit,
		      Dwarf_Die *function, bool *has_function)
{
	const struct range *range;

	if (!find_unit(units, address, unit))
		return false;
	range = find_function(units, unit, address);
	*has_function = range && dwarf_offdie(units->dwarf, range->entry, function);
	return true;
}
