/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .debug_aranges gives the unit of an address when the compiler wrote it: clang and some
 * linkers leave it out or make it incomplete, then the ranges of all units are read once.
 * libdw's own reader of it examines every unit, which brings in pages from all over the file.
 */
#include "symbol/dwarf/dwarf_units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "symbol/elf/elf_file.h"

enum {
	WINDOW_BITS = 16, /* what the kernel maps around a page that is touched */
	WINDOWS_MAX = 64, /* such parts of the file before it is released: 4 MB */
	UNITS_MAX = 1 << 20,
	RANGES_MAX = 1 << 22,  /* of all units, and of the functions of one */
	ENTRIES_MAX = 1 << 24, /* debug entries examined in one unit: an endless list ends */
	DEPTH_MAX = 32,        /* of namespaces and classes */
	OVERLAPS_MAX = 64,     /* ranges to walk back, where ranges lie in each other */
};

struct range {
	uint64_t start, end;
	uint64_t entry; /* offset of the unit, or of the function's debug entry */
};

struct range_list {
	struct range *ranges; /* sorted by start */
	size_t count, capacity;
};

struct unit {
	struct range_list functions;
	bool is_deep; /* with those that lie within types and other functions */
};

struct dwarf_units {
	Dwarf *dwarf;
	const struct elf_file *file;
	struct range_list units;
	bool has_all;     /* units is not from .debug_aranges alone */
	uint64_t *starts; /* of all units, once somebody asks, and the last one's end */
	size_t start_count;
	Dwarf_Off known;  /* libdw knows the units up to here */
	Dwarf_Off window; /* the part of the file that was touched last */
	unsigned int window_count;
	struct table *read; /* struct unit by its entry's offset + 1 */
};

static void add_range(struct range_list *list, uint64_t start, uint64_t end, uint64_t entry)
{
	/* Linkers leave ranges at 0 for functions that they removed. */
	if (end <= start || !start || list->count >= RANGES_MAX)
		return;
	ARRAY_GROW(list->ranges, list->count, list->capacity, 16);
	list->ranges[list->count++] = (struct range){ start, end, entry };
}

static void add_ranges(struct range_list *list, Dwarf_Die *die, uint64_t entry)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		add_range(list, start, end, entry);
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

/* The ranges of one unit; *in is what is left of the section. */
static void read_arange_set(struct dwarf_units *units, struct byte_cursor *in)
{
	uint64_t size_bytes = byte_cursor_number(in, 4), unit, start, end;
	unsigned int offset_bytes = 4, address_bytes;
	struct byte_cursor set = *in;
	const uint8_t *header = set.at - 4;

	if (size_bytes == 0xffffffff) {
		offset_bytes = 8;
		size_bytes = byte_cursor_number(in, 8);
		set = *in;
		header = set.at - 12;
	}
	byte_cursor_skip(in, size_bytes);
	set.end = in->at;
	if (in->is_bad || byte_cursor_number(&set, 2) != 2)
		return;
	unit = byte_cursor_number(&set, offset_bytes);
	address_bytes = byte_cursor_u8(&set);
	if (byte_cursor_u8(&set) || (address_bytes != 4 && address_bytes != 8))
		return; /* addresses in segments */
	byte_cursor_skip(&set, -(uint64_t)(set.at - header) % (2 * address_bytes));
	while (!set.is_bad) {
		start = byte_cursor_number(&set, address_bytes);
		end = start + byte_cursor_number(&set, address_bytes);
		if (!set.is_bad)
			add_range(&units->units, start, end, unit);
	}
}

static void read_aranges(struct dwarf_units *units)
{
	struct byte_cursor in = elf_debug_section(units->file->elf, ".debug_aranges");

	while (byte_cursor_left(&in) && !in.is_bad)
		read_arange_set(units, &in);
	sort_ranges(&units->units);
}

static void set_dwarf(struct dwarf_units *units, Dwarf *dwarf)
{
	units->dwarf = dwarf;
	units->read = table_new();
	units->known = 0;
}

static void forget_read(struct dwarf_units *units)
{
	struct unit *unit;
	size_t cursor = 0;

	while ((unit = table_next(units->read, &cursor))) {
		free(unit->functions.ranges);
		free(unit);
	}
	table_free(units->read);
}

struct dwarf_units *dwarf_units_new(Dwarf *dwarf, const struct elf_file *file)
{
	struct dwarf_units *units = xcalloc(1, sizeof(*units));

	units->file = file;
	set_dwarf(units, dwarf);
	read_aranges(units);
	return units;
}

void dwarf_units_free(struct dwarf_units *units)
{
	if (!units)
		return;
	forget_read(units);
	free(units->starts);
	free(units->units.ranges);
	free(units);
}

void dwarf_units_reset(struct dwarf_units *units, Dwarf *dwarf)
{
	forget_read(units);
	set_dwarf(units, dwarf);
}

/* An entry is read. Of a file that is read all over, all would stay in memory. */
static void touch(struct dwarf_units *units, Dwarf_Off entry)
{
	if (entry >> WINDOW_BITS == units->window)
		return;
	units->window = entry >> WINDOW_BITS;
	if (++units->window_count < WINDOWS_MAX)
		return;
	elf_file_release(units->file);
	units->window_count = 0;
}

/* libdw reads the headers of all units up to the one it looks for: here it does so in steps. */
static bool get_entry(struct dwarf_units *units, Dwarf_Off entry, Dwarf_Die *die)
{
	Dwarf_Off next;
	size_t header_bytes;

	while (units->known < entry &&
	       !dwarf_nextcu(units->dwarf, units->known, &next, &header_bytes, NULL, NULL, NULL) &&
	       next > units->known) {
		touch(units, units->known);
		if (!dwarf_offdie(units->dwarf, units->known + header_bytes, die))
			break;
		units->known = next;
	}
	return dwarf_offdie(units->dwarf, entry, die);
}

static const struct range *find_range(const struct range_list *list, uint64_t address)
{
	size_t low = BOUND(0, list->count, i, list->ranges[i].start <= address);

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

		touch(units, offset);
		if (get_entry(units, offset + header_bytes, &die) && dwarf_tag(&die) != DW_TAG_partial_unit)
			add_ranges(&units->units, &die, offset);
		if (next <= offset)
			break;
		offset = next;
	}
	sort_ranges(&units->units);
	units->has_all = true;
}

static bool find_unit(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit)
{
	const struct range *range = find_range(&units->units, address);
	size_t header_bytes;
	Dwarf_Off next;

	if (!range && !units->has_all) {
		read_units(units);
		range = find_range(&units->units, address);
	}
	return range && !dwarf_nextcu(units->dwarf, range->entry, &next, &header_bytes, NULL, NULL, NULL) &&
	       get_entry(units, range->entry + header_bytes, unit);
}

/* How functions are looked for in one unit. */
struct search {
	struct dwarf_units *units;
	struct unit *unit;
	bool has_types; /* types are looked into */
	size_t entry_count;
};

/*
 * True for what can hold functions besides a unit: Rust and clang put them where they belong.
 * Those of a lambda or a local class lie within another function.
 */
static bool is_scope(const struct search *search, int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return search->has_types;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return search->unit->is_deep;
	}
	return false;
}

static void add_functions(struct search *search, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		touch(search->units, dwarf_dieoffset(&die));
		if (tag == DW_TAG_subprogram)
			add_ranges(&search->unit->functions, &die, dwarf_dieoffset(&die));
		if (is_scope(search, tag))
			add_functions(search, &die, depth + 1);
	} while (++search->entry_count < ENTRIES_MAX && !dwarf_siblingof(&die, &die));
}

/* The types of C++ only declare their functions; there are many, and they are large. */
static bool declares_in_types(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	}
	return false;
}

static void read_functions(struct dwarf_units *units, struct unit *unit, Dwarf_Die *die)
{
	struct search search = {
		.units = units,
		.unit = unit,
		.has_types = unit->is_deep || !declares_in_types(die),
	};

	unit->functions.count = 0;
	add_functions(&search, die, 0);
	sort_ranges(&unit->functions);
}

static const struct range *find_function(struct dwarf_units *units, Dwarf_Die *die, uint64_t address)
{
	uint64_t key = dwarf_dieoffset(die) + 1;
	struct unit *unit = table_find(units->read, key);
	const struct range *range;

	if (!unit) {
		unit = xcalloc(1, sizeof(*unit));
		table_put(units->read, key, unit);
		read_functions(units, unit, die);
	}
	range = find_range(&unit->functions, address);
	if (range || unit->is_deep)
		return range;
	/* To look into every function takes several times as long, and is seldom needed. */
	unit->is_deep = true;
	read_functions(units, unit, die);
	return find_range(&unit->functions, address);
}

bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function,
		      bool *has_function)
{
	const struct range *range;

	if (!find_unit(units, address, unit))
		return false;
	range = find_function(units, unit, address);
	*has_function = range && dwarf_offdie(units->dwarf, range->entry, function);
	return true;
}

/* --- Units by where they lie ---------------------------------------------------------------- */

static void read_starts(struct dwarf_units *units)
{
	size_t capacity = 64, header_bytes;
	Dwarf_Off offset = 0, next;

	units->starts = xcalloc(capacity, sizeof(*units->starts));
	while (units->start_count < UNITS_MAX &&
	       !dwarf_nextcu(units->dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) && next > offset) {
		touch(units, offset);
		if (units->start_count + 1 == capacity) {
			capacity *= 2;
			units->starts = xrealloc(units->starts, capacity, sizeof(*units->starts));
		}
		units->starts[units->start_count++] = offset;
		units->starts[units->start_count] = next;
		offset = next;
	}
}

size_t dwarf_units_count(struct dwarf_units *units)
{
	if (!units->starts)
		read_starts(units);
	return units->start_count;
}

bool dwarf_units_nth(struct dwarf_units *units, size_t number, Dwarf_Die *unit, uint64_t *start, uint64_t *end)
{
	size_t header_bytes;
	Dwarf_Off next;

	if (number >= dwarf_units_count(units))
		return false;
	*start = units->starts[number];
	*end = units->starts[number + 1];
	return !dwarf_nextcu(units->dwarf, *start, &next, &header_bytes, NULL, NULL, NULL) &&
	       get_entry(units, *start + header_bytes, unit);
}

bool dwarf_units_at(struct dwarf_units *units, uint64_t place, size_t *number)
{
	size_t count = dwarf_units_count(units);

	if (!count || place >= units->starts[count])
		return false;
	*number = BOUND(1, count, i, units->starts[i] <= place) - 1;
	return true;
}
