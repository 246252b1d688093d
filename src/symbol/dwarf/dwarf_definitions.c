/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A definition has the same name as the declaration, so it refers to the same string, whose place
 * in .debug_str is searched for in .debug_info, as bytes. The shortest names stand there
 * themselves. Of units that tell strings by their numbers in a list, those are read whose list has
 * this one.
 */
#include "symbol/dwarf/dwarf_definitions.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_cursor.h"
#include "base/memory.h"
#include "symbol/dwarf/dwarf_lists.h"
#include "symbol/dwarf/dwarf_name.h"
#include "symbol/dwarf/dwarf_search.h"
#include "symbol/elf/elf_file.h"

enum {
	WINDOW_BYTES = 4 << 20, /* of the file, before it is released */
	PLACES_MAX = 1 << 16,   /* of one string */
	TYPES_MAX = 64,         /* searched for in one file; in 145 MB, for 0.1 s each */
	NAME_BYTES = 1024,
};

struct definition {
	bool is_known;
	Dwarf_Off entry;
	char *name; /* with its scopes */
};

struct dwarf_definitions {
	struct dwarf_units *units;
	const struct elf_file *file;
	struct dwarf_lists *lists; /* of strings */
	struct definition types[TYPES_MAX];
	size_t type_count;
};

struct dwarf_definitions *dwarf_definitions_new(struct dwarf_units *units, const struct elf_file *file)
{
	struct dwarf_definitions *definitions = xcalloc(1, sizeof(*definitions));

	definitions->units = units;
	definitions->file = file;
	definitions->lists =
		dwarf_lists_new(units, file, ".debug_str_offsets", DW_AT_str_offsets_base, sizeof(uint32_t));
	return definitions;
}

void dwarf_definitions_free(struct dwarf_definitions *definitions)
{
	if (!definitions)
		return;
	for (size_t i = 0; i < definitions->type_count; i++)
		free(definitions->types[i].name);
	dwarf_lists_free(definitions->lists);
	free(definitions);
}

struct type_search {
	struct dwarf_definitions *definitions;
	struct dwarf_search *search;
	const char *own_name, *name;
	bool is_union;
};

static bool is_definition(void *data, Dwarf_Die *entry)
{
	const struct type_search *types = data;
	char name[NAME_BYTES];
	const char *own_name;

	switch (dwarf_tag(entry)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		if (types->is_union)
			return false;
		break;
	case DW_TAG_union_type:
		if (!types->is_union)
			return false;
		break;
	default:
		return false;
	}
	own_name = dwarf_diename(entry);
	if (!own_name || strcmp(own_name, types->own_name) ||
	    (dwarf_hasattr(entry, DW_AT_declaration) && !dwarf_hasattr(entry, DW_AT_signature)))
		return false;
	dwarf_type_name(entry, name, sizeof(name));
	return !strcmp(name, types->name);
}

/* Where the bytes are in .debug_info. */
static size_t find_places(const struct elf_file *file, const void *bytes, size_t count, uint64_t *places)
{
	struct byte_cursor info = elf_debug_section(file->elf, ".debug_info");
	const uint8_t *at = info.at;
	size_t place_count = 0;

	for (const uint8_t *window = info.at; window < info.end;) {
		size_t left = info.end - window;
		const uint8_t *end = left > WINDOW_BYTES ? window + WINDOW_BYTES : info.end;
		const uint8_t *last = left > WINDOW_BYTES + count ? end + count - 1 : info.end;

		while (at < end && place_count < PLACES_MAX) {
			at = memmem(at, last - at, bytes, count);
			if (!at)
				break;
			places[place_count++] = at++ - info.at;
		}
		elf_file_release(file);
		at = window = end;
	}
	return place_count;
}

static bool find_by_bytes(struct type_search *types, const void *bytes, size_t count)
{
	uint64_t *places = xcalloc(PLACES_MAX, sizeof(*places));
	bool is_found;

	types->search->places = places;
	types->search->count = find_places(types->definitions->file, bytes, count, places);
	is_found = dwarf_search_places(types->search, types->definitions->units);
	free(places);
	return is_found;
}

static bool find_in_unit(void *data, size_t unit, uint64_t number)
{
	struct type_search *types = data;

	(void)number;
	return dwarf_search_unit(types->search, types->definitions->units, unit);
}

static bool find_definition(struct type_search *types)
{
	const struct elf_file *file = types->definitions->file;
	struct byte_cursor strings = elf_debug_section(file->elf, ".debug_str");
	const uint8_t *own_name = (const uint8_t *)types->own_name;
	uint32_t place = own_name - strings.at;

	if (own_name < strings.at || own_name >= strings.end)
		return find_by_bytes(types, own_name, strlen(types->own_name) + 1);
	return find_by_bytes(types, &place, sizeof(place)) ||
	       dwarf_lists_find(types->definitions->lists, place, find_in_unit, types);
}

/* What is known about the type, from an earlier search or from this one. NULL: there were too many. */
static const struct definition *get(struct dwarf_definitions *definitions, Dwarf_Die *type)
{
	char name[NAME_BYTES];
	struct type_search types = {
		.definitions = definitions,
		.own_name = dwarf_diename(type),
		.name = name,
		.is_union = dwarf_tag(type) == DW_TAG_union_type,
	};
	struct dwarf_search search = { .is_wanted = is_definition, .data = &types };
	struct definition *definition;

	if (!types.own_name || !types.own_name[0])
		return NULL;
	dwarf_type_name(type, name, sizeof(name));
	for (size_t i = 0; i < definitions->type_count; i++)
		if (!strcmp(definitions->types[i].name, name))
			return &definitions->types[i];
	if (definitions->type_count == TYPES_MAX)
		return NULL;
	definition = &definitions->types[definitions->type_count++];
	definition->name = xstrdup(name);
	types.search = &search;
	definition->is_known = find_definition(&types);
	if (definition->is_known)
		definition->entry = dwarf_dieoffset(&search.entry);
	return definition;
}

bool dwarf_definitions_find(struct dwarf_definitions *definitions, Dwarf *dwarf, Dwarf_Die *type)
{
	const struct definition *definition = get(definitions, type);
	Dwarf_Attribute attribute;
	Dwarf_Die entry, whole;

	if (!definition || !definition->is_known || !dwarf_offdie(dwarf, definition->entry, &entry))
		return false;
	if (dwarf_attr(&entry, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &whole))
		entry = whole;
	*type = entry;
	return true;
}
