/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for an entry around places of .debug_info that were found by their bytes: of the units only
 * those that have such places are read, and of their entries only those around them.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_units;

struct dwarf_search {
	bool (*is_wanted)(void *data, Dwarf_Die *entry);
	void *data;
	const uint64_t *places; /* ascending; passed over as the search goes on */
	size_t count;
	size_t entry_count; /* examined so far, by all searches with this: bounded */

	/* What was found, and the function it is in. */
	Dwarf_Die entry, function;
	bool has_function;
};

/* The first wanted entry around one of the places. */
bool dwarf_search_places(struct dwarf_search *search, struct dwarf_units *units);

/* The first wanted entry of a unit that is in no function. */
bool dwarf_search_unit(struct dwarf_search *search, struct dwarf_units *units, size_t unit);
