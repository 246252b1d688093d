/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_lines.h"

#include <dwarf.h>
#include <stdbool.h>

#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_units.h"
#include "symbol/dwarf/line_table.h"

enum { SIBLINGS_MAX = 1 << 20 }; /* entries examined in one scope */

/* The child scope that holds the address: an inlined call, or a block that may hold one. */
static bool find_inner(Dwarf_Die *scope, uint64_t address, Dwarf_Die *inner)
{
	Dwarf_Die die;
	unsigned int count = 0;

	if (dwarf_child(scope, &die))
		return false;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			if (dwarf_haspc(&die, address) > 0) {
				*inner = die;
				return true;
			}
		}
	} while (++count < SIBLINGS_MAX && !dwarf_siblingof(&die, &die));
	return false;
}

/* The function and the calls inlined around the address, outermost first. */
static size_t find_scopes(Dwarf_Die *function, uint64_t address, Dwarf_Die *scopes)
{
	Dwarf_Die scope = *function;
	size_t count = 0;

	scopes[count++] = *function;
	for (size_t depth = 0; count < SOURCE_FRAMES_MAX && depth < 1024; depth++) {
		if (!find_inner(&scope, address, &scope))
			break;
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
			scopes[count++] = scope;
	}
	return count;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name && name[0] ? name : dwarf_diename(die);
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return otherwise;
	return value;
}

static void set_file(const struct dwarf_file *dwarf, Dwarf_Die *unit, uint64_t number, struct source_frame *frame)
{
	uint64_t place = number_of(unit, DW_AT_stmt_list, UINT64_MAX);
	Dwarf_Attribute attribute;

	if (!line_table_file(dwarf->lines, place, number, &frame->folder, &frame->file)) {
		frame->folder = frame->file = NULL;
		return;
	}
	if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		frame->root = dwarf_formstring(&attribute);
}

/* Where an inlined function was called from. */
static void set_call(const struct dwarf_file *dwarf, Dwarf_Die *unit, Dwarf_Die *inlined, struct source_frame *frame)
{
	frame->line = number_of(inlined, DW_AT_call_line, 0);
	set_file(dwarf, unit, number_of(inlined, DW_AT_call_file, 0), frame);
}

static void set_line(const struct dwarf_file *dwarf, Dwarf_Die *unit, uint64_t address, struct source_frame *frame)
{
	uint64_t place = number_of(unit, DW_AT_stmt_list, UINT64_MAX);
	struct line_row row;

	if (!line_table_find(dwarf->lines, place, address, &row))
		return;
	set_file(dwarf, unit, row.file, frame);
	if (row.line <= INT32_MAX)
		frame->line = row.line;
}

size_t dwarf_lines_find(const struct dwarf_file *dwarf, uint64_t address, struct source_frame frames[SOURCE_FRAMES_MAX])
{
	Dwarf_Die unit, function, scopes[SOURCE_FRAMES_MAX];
	size_t count = 0;
	bool has_function;

	if (!dwarf_units_find(dwarf->units, address, &unit, &function, &has_function))
		return 0;
	if (has_function)
		count = find_scopes(&function, address, scopes);
	frames[0] = (struct source_frame){ 0 };
	set_line(dwarf, &unit, address, &frames[0]);
	for (size_t i = 0; i < count; i++) {
		Dwarf_Die *scope = &scopes[count - 1 - i];

		frames[i].function = name_of(scope);
		if (i + 1 == count)
			break;
		frames[i + 1] = (struct source_frame){ 0 };
		set_call(dwarf, &unit, scope, &frames[i + 1]);
	}
	/* A unit without a function or a line there has nothing to say. */
	return count ? count : frames[0].file != NULL;
}
