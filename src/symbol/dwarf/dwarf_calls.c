/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_calls.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stddef.h>

#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_units.h"

enum { ENTRIES_MAX = 1 << 16, DEPTH_MAX = 64 };

static bool has_any(Dwarf_Die *entry, const unsigned int *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (dwarf_hasattr(entry, names[i]))
			return true;
	return false;
}

/* The compiler says so of the function. */
static bool describes_tail_calls(Dwarf_Die *function)
{
	static const unsigned int names[] = {
		DW_AT_call_all_calls,     DW_AT_call_all_tail_calls,     DW_AT_call_all_source_calls,
		DW_AT_GNU_all_call_sites, DW_AT_GNU_all_tail_call_sites, DW_AT_GNU_all_source_call_sites,
	};

	return has_any(function, names, sizeof(names) / sizeof(*names));
}

/* A tail call of a function that is known when the program runs. */
static bool is_indirect(Dwarf_Die *call)
{
	static const unsigned int tail_names[] = { DW_AT_call_tail_call, DW_AT_GNU_tail_call };
	static const unsigned int target_names[] = { DW_AT_call_origin, DW_AT_abstract_origin };

	return has_any(call, tail_names, 2) && !has_any(call, target_names, 2);
}

/* Looks at the calls below an entry, also those of what was inlined. False: one is indirect, or there are too many. */
static bool are_direct(Dwarf_Die *scope, size_t *entry_count, unsigned int depth)
{
	Dwarf_Die entry;

	if (depth > DEPTH_MAX)
		return false;
	if (dwarf_child(scope, &entry))
		return true;
	do {
		if (++*entry_count > ENTRIES_MAX)
			return false;
		switch (dwarf_tag(&entry)) {
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			if (is_indirect(&entry))
				return false;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (!are_direct(&entry, entry_count, depth + 1))
				return false;
		}
	} while (!dwarf_siblingof(&entry, &entry));
	return true;
}

bool dwarf_tail_calls_are_direct(const struct dwarf_file *dwarf, uint64_t address)
{
	Dwarf_Die unit, function;
	size_t entry_count = 0;
	bool has_function;

	return dwarf_units_find(dwarf->units, address, &unit, &function, &has_function) && has_function &&
	       describes_tail_calls(&function) && are_direct(&function, &entry_count, 0);
}
