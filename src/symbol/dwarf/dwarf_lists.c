/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_lists.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "symbol/dwarf/dwarf_units.h"
#include "symbol/elf/elf_file.h"

/* A list that a unit uses: where its first value is. */
struct use {
	uint64_t base;
	size_t unit;
};

struct dwarf_lists {
	struct dwarf_units *units;
	const struct elf_file *file;
	const char *section;
	unsigned int attribute, value_bytes;
	struct use *uses; /* sorted; NULL until they are needed */
	size_t use_count;
};

struct dwarf_lists *dwarf_lists_new(struct dwarf_units *units, const struct elf_file *file, const char *section,
				    unsigned int base, unsigned int value_bytes)
{
	struct dwarf_lists *lists = xcalloc(1, sizeof(*lists));

	lists->units = units;
	lists->file = file;
	lists->section = section;
	lists->attribute = base;
	lists->value_bytes = value_bytes;
	return lists;
}

void dwarf_lists_free(struct dwarf_lists *lists)
{
	if (!lists)
		return;
	free(lists->uses);
	free(lists);
}

static int by_base(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static void read_uses(struct dwarf_lists *lists)
{
	size_t count = dwarf_units_count(lists->units);
	uint64_t start, end;

	lists->uses = xcalloc(count + 1, sizeof(*lists->uses));
	for (size_t i = 0; i < count; i++) {
		struct use *use = &lists->uses[lists->use_count];
		Dwarf_Attribute attribute;
		Dwarf_Die unit;

		if (!dwarf_units_nth(lists->units, i, &unit, &start, &end) ||
		    !dwarf_attr(&unit, lists->attribute, &attribute) || dwarf_formudata(&attribute, &use->base))
			continue;
		use->unit = i;
		lists->use_count++;
	}
	qsort(lists->uses, lists->use_count, sizeof(*lists->uses), by_base);
}

/* The first use of a list, or where it would be. */
static size_t find_use(const struct dwarf_lists *lists, uint64_t base)
{
	return BOUND(0, lists->use_count, i, lists->uses[i].base < base);
}

/* The value's number in a list, which has it once. False when it is not there. */
static bool find_value(const struct dwarf_lists *lists, struct byte_cursor list, uint64_t value, uint64_t *number)
{
	for (*number = 0; byte_cursor_left(&list) >= lists->value_bytes; ++*number)
		if (byte_cursor_number(&list, lists->value_bytes) == value)
			return true;
	return false;
}

bool dwarf_lists_find(struct dwarf_lists *lists, uint64_t value,
		      bool (*on_unit)(void *data, size_t unit, uint64_t number), void *data)
{
	struct byte_cursor all = elf_debug_section(lists->file->elf, lists->section);
	const uint8_t *begin = all.at;

	if (byte_cursor_left(&all) && !lists->uses)
		read_uses(lists);
	while (byte_cursor_left(&all) && !all.is_bad) {
		uint64_t size_bytes = byte_cursor_number(&all, 4), base, number;
		struct byte_cursor list;

		if (size_bytes == 0xffffffff)
			size_bytes = byte_cursor_number(&all, 8);
		list = all;
		byte_cursor_skip(&all, size_bytes);
		list.end = all.at;
		byte_cursor_skip(&list, 4); /* the version, and sizes or nothing */
		base = list.at - begin;
		if (!find_value(lists, list, value, &number))
			continue;
		/* Units that were optimised together share it. */
		for (size_t i = find_use(lists, base); i < lists->use_count && lists->uses[i].base == base; i++)
			if (on_unit(data, lists->uses[i].unit, number))
				return true;
	}
	return false;
}
