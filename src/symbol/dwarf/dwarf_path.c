/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_path.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/dwarf_name.h"
#include "symbol/dwarf/dwarf_origin.h"
#include "symbol/dwarf/dwarf_type.h"

enum {
	DEPTH_MAX = 64,        /* members of members, and typedefs of typedefs */
	MEMBERS_MAX = 1 << 16, /* examined for one path */
	BASES_MAX = 8,         /* empty ones in each other */
};

struct walk {
	const struct dwarf_file *file;
	struct dwarf_path *path;
	size_t length; /* of path->members */
	unsigned int member_count;
	Dwarf_Die type;     /* what lies path->rest from its beginning is looked for */
	bool has_type_name; /* path->type is of what path->members names */
	bool is_hidden;     /* the type stands for the array in it */
};

/* False when it does not fit. */
static bool put(struct walk *walk, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool put(struct walk *walk, const char *format, ...)
{
	size_t capacity = sizeof(walk->path->members) - walk->length;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(walk->path->members + walk->length, capacity, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= capacity) {
		walk->path->members[walk->length] = '\0';
		return false;
	}
	walk->length += length;
	walk->has_type_name = false;
	return true;
}

/* --- Members -------------------------------------------------------------------------------- */

struct member {
	Dwarf_Die entry;
	uint64_t distance;
	Dwarf_Die type; /* once it was measured */
};

/* Reads a member that lies in the object, or a base; where a virtual one lies, code says. */
static bool read_member(Dwarf_Die *entry, struct member *member)
{
	int tag = dwarf_tag(entry);
	Dwarf_Attribute attribute;
	Dwarf_Op *operations;
	Dwarf_Word bits;
	size_t count;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(entry, DW_AT_external) ||
	    dwarf_hasattr(entry, DW_AT_declaration))
		return false;
	member->entry = *entry;
	member->distance = 0;
	if (dwarf_attr(entry, DW_AT_data_member_location, &attribute)) {
		if (dwarf_getlocation(&attribute, &operations, &count) || count != 1 ||
		    operations[0].atom != DW_OP_plus_uconst)
			return false;
		member->distance = operations[0].number;
	} else if (dwarf_attr(entry, DW_AT_data_bit_offset, &attribute)) {
		if (dwarf_formudata(&attribute, &bits))
			return false;
		member->distance = bits / 8;
	}
	return true;
}

/* A base class without members takes no space, yet has a size of 1. */
static bool is_empty(struct walk *walk, Dwarf_Die type, unsigned int nesting)
{
	Dwarf_Die entry;

	if (!dwarf_type_is_aggregate(&type) || nesting > BASES_MAX)
		return false;
	if (dwarf_child(&type, &entry))
		return !dwarf_hasattr(&type, DW_AT_declaration);
	do {
		struct member member;

		if (++walk->member_count > MEMBERS_MAX)
			return false;
		if (read_member(&entry, &member) &&
		    (!dwarf_type_of(walk->file, &entry, &member.type) || !is_empty(walk, member.type, nesting + 1)))
			return false;
	} while (!dwarf_siblingof(&entry, &entry));
	return true;
}

/* An array at the end of a structure may have as many elements as were given. */
static bool holds(struct walk *walk, struct member *member, uint64_t distance)
{
	struct dwarf_array array;
	uint64_t size_bytes;

	if (distance < member->distance || !dwarf_type_of(walk->file, &member->entry, &member->type))
		return false;
	distance -= member->distance;
	if (dwarf_type_size(walk->file, &member->type, &size_bytes))
		return distance < size_bytes && (size_bytes > 1 || !is_empty(walk, member->type, 0));
	return dwarf_tag(&member->type) == DW_TAG_array_type && dwarf_type_array(walk->file, &member->type, &array) &&
	       !array.dimensions[0].count;
}

/* Where the last member begins that does not begin beyond what is looked for. */
static uint64_t find_last(struct walk *walk)
{
	uint64_t last = 0;
	Dwarf_Die entry;

	if (dwarf_child(&walk->type, &entry))
		return 0;
	do {
		struct member member;

		if (++walk->member_count > MEMBERS_MAX)
			break;
		if (read_member(&entry, &member) && member.distance > last && member.distance <= walk->path->rest)
			last = member.distance;
	} while (!dwarf_siblingof(&entry, &entry));
	return last;
}

/*
 * The first member that holds what is looked for, of those that begin nearest to it: a class may
 * use the padding of its base. Only they need be measured.
 */
static bool find_member(struct walk *walk, struct member *member)
{
	uint64_t last = find_last(walk);
	Dwarf_Die entry;

	if (dwarf_child(&walk->type, &entry))
		return false;
	do {
		if (++walk->member_count > MEMBERS_MAX)
			return false;
		if (read_member(&entry, member) && member->distance == last && holds(walk, member, walk->path->rest))
			return true;
	} while (!dwarf_siblingof(&entry, &entry));
	return false;
}

/* The name as it is written: Rust's compiler calls the first field of a tuple "__0". */
static const char *written_name(struct member *member)
{
	const char *name = dwarf_tag(&member->entry) == DW_TAG_member ? dwarf_diename(&member->entry) : NULL;

	if (name && !strncmp(name, "__", 2) && isdigit((unsigned char)name[2]))
		return name + 2;
	return name;
}

/* False when nothing there has a name that a user gave. */
static bool enter_member(struct walk *walk)
{
	struct member member;
	const char *name;

	if (!find_member(walk, &member) || dwarf_hasattr(&member.entry, DW_AT_artificial))
		return false;
	name = written_name(&member);
	if (name && name[0] && !walk->is_hidden && !put(walk, ".%s", name))
		return false;
	walk->path->rest -= member.distance;
	walk->type = member.type;
	return true;
}

static bool enter_element(struct walk *walk)
{
	uint64_t indexes[DWARF_DIMENSIONS_MAX], number;
	size_t length = walk->length;
	struct dwarf_array array;

	if (!dwarf_type_array(walk->file, &walk->type, &array))
		return false;
	number = walk->path->rest / array.stride;
	for (size_t i = array.dimension_count; i-- > 1;) {
		indexes[i] = array.dimensions[i].first + number % array.dimensions[i].count;
		number /= array.dimensions[i].count;
	}
	if (array.dimensions[0].count && number >= array.dimensions[0].count)
		return false;
	indexes[0] = array.dimensions[0].first + number;
	for (size_t i = 0; i < array.dimension_count; i++) {
		if (!put(walk, "[%llu]", (unsigned long long)indexes[i])) {
			walk->length = length;
			walk->path->members[length] = '\0';
			return false;
		}
	}
	walk->path->rest %= array.stride;
	walk->type = array.element;
	return true;
}

/* --- The way down --------------------------------------------------------------------------- */

/*
 * Takes off qualifiers and typedefs, the first of which names the type. False when there is nothing
 * to go down into.
 */
static bool open_type(struct walk *walk)
{
	for (unsigned int i = 0; i < DEPTH_MAX; i++) {
		bool is_qualifier = dwarf_type_is_qualifier(&walk->type);
		Dwarf_Die inner;

		if (!walk->has_type_name && !is_qualifier) {
			dwarf_type_name(&walk->type, walk->path->type, sizeof(walk->path->type));
			walk->has_type_name = true;
		}
		if (!is_qualifier && !walk->is_hidden && dwarf_is_system(walk->file, &walk->type)) {
			walk->is_hidden = dwarf_is_std_array(&walk->type);
			if (!walk->is_hidden)
				walk->path->rest = 0;
			return walk->is_hidden;
		}
		if (!is_qualifier && dwarf_tag(&walk->type) != DW_TAG_typedef)
			return true;
		if (!dwarf_type_of(walk->file, &walk->type, &inner))
			return false;
		walk->type = inner;
	}
	return false;
}

void dwarf_path_find(const struct dwarf_file *file, Dwarf_Die *variable, uint64_t distance, struct dwarf_path *path)
{
	struct walk walk = { .file = file, .path = path };

	path->members[0] = path->type[0] = '\0';
	path->rest = distance;
	if (!dwarf_type_of(file, variable, &walk.type))
		return;
	for (unsigned int depth = 0; depth < DEPTH_MAX && open_type(&walk); depth++) {
		if (dwarf_type_is_aggregate(&walk.type)) {
			if (!enter_member(&walk))
				return;
		} else {
			walk.is_hidden = false;
			if (dwarf_tag(&walk.type) != DW_TAG_array_type || !enter_element(&walk))
				return;
		}
	}
}
