/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_name.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>

enum {
	CHAIN_MAX = 16,        /* declarations of declarations */
	ENTRIES_MAX = 1 << 20, /* examined for the scopes of one type */
};

Dwarf_Die dwarf_declaration(Dwarf_Die entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declaration;

	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		if (!dwarf_attr(&entry, DW_AT_specification, &attribute) ||
		    !dwarf_formref_die(&attribute, &declaration))
			break;
		entry = declaration;
	}
	return entry;
}

/* The entries around one of a unit, outermost first: entries know only what is in them. */
static size_t find_scopes(Dwarf_Die *unit, uint64_t place, Dwarf_Die scopes[DWARF_SCOPES_MAX])
{
	unsigned int entry_count = 0;
	Dwarf_Die scope = *unit, next;
	size_t count = 0;

	while (count < DWARF_SCOPES_MAX) {
		Dwarf_Die entry;

		if (dwarf_child(&scope, &entry))
			return count;
		while (++entry_count < ENTRIES_MAX && !dwarf_siblingof(&entry, &next) &&
		       dwarf_dieoffset(&next) <= place)
			entry = next;
		if (entry_count >= ENTRIES_MAX || dwarf_dieoffset(&entry) >= place)
			return count;
		scopes[count++] = scope = entry;
	}
	return count;
}

/* Languages in which a type's name says all: the unit need not be searched for scopes. */
static bool has_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Go:
		return false;
	}
	return true;
}

size_t dwarf_scopes(Dwarf_Die *type, Dwarf_Die scopes[DWARF_SCOPES_MAX])
{
	Dwarf_Die entry = dwarf_declaration(*type), unit;

	if (!dwarf_diecu(&entry, &unit, NULL, NULL) || !has_scopes(&unit))
		return 0;
	return find_scopes(&unit, dwarf_dieoffset(&entry), scopes);
}

bool dwarf_is_namespace(Dwarf_Die *scope)
{
	int tag = dwarf_tag(scope);

	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* A namespace that users need not write, such as libc++'s std::__1. */
static bool is_left_out(Dwarf_Die *scope)
{
	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return dwarf_hasattr(scope, DW_AT_export_symbols);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return false;
	}
	return true;
}

static size_t put(char *name, size_t at, size_t size_bytes, const char *part, const char *end)
{
	if (at < size_bytes)
		at += snprintf(name + at, size_bytes - at, "%s%s", part, end);
	return at;
}

void dwarf_type_name(Dwarf_Die *type, char *name, size_t size_bytes)
{
	const char *own = dwarf_diename(type), *part;
	Dwarf_Die scopes[DWARF_SCOPES_MAX];
	size_t count, at = 0;

	name[0] = '\0';
	if (!own || !own[0])
		return;
	count = dwarf_scopes(type, scopes);
	for (size_t i = 0; i < count; i++) {
		part = dwarf_diename(&scopes[i]);
		if (!part && dwarf_is_namespace(&scopes[i]))
			part = "(anonymous namespace)";
		if (part && !is_left_out(&scopes[i]))
			at = put(name, at, size_bytes, part, "::");
	}
	put(name, at, size_bytes, own, "");
}
