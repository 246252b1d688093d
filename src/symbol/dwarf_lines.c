/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "symbol/dwarf_units.h"
#include "symbol/elf_file.h"

enum { SIBLINGS_MAX = 1 << 20 };	/* entries looked at in one scope */

struct dwarf_lines {
	Dwarf *dwarf;
	struct dwarf_units *units;
};

int dwarf_lines_open(Elf *elf, Dwarf *alt, struct dwarf_lines **out)
{
	struct dwarf_lines *lines;
	Dwarf *dwarf;

	if (!elf_has_lines(elf))
		return -ENOENT;
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!dwarf)
		return -EINVAL;
	if (alt)
		dwarf_setalt(dwarf, alt);
	lines = xcalloc(1, sizeof(*lines));
	lines->dwarf = dwarf;
	lines->units = dwarf_units_new(dwarf);
	*out = lines;
	return 0;
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	dwarf_units_free(lines->units);
	dwarf_end(lines->dwarf);
	free(lines);
}

Dwarf *dwarf_lines_dwarf(struct dwarf_lines *lines)
{
	return lines->dwarf;
}

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

/* Sets the file and, unless its path is a full one, the folder where the compiler ran. */
static void set_file(Dwarf_Die *unit, const char *file, struct source_frame *frame)
{
	Dwarf_Attribute attribute;

	frame->file = file;
	if (file && file[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		frame->folder = dwarf_formstring(&attribute);
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

/* Where an inlined function was called from. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct source_frame *frame)
{
	uint64_t file = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	frame->line = number_of(inlined, DW_AT_call_line);
	if (!dwarf_getsrcfiles(unit, &files, &count) && file < count)
		set_file(unit, dwarf_filesrc(files, file, NULL, NULL), frame);
}

static void set_line(Dwarf_Die *unit, uint64_t address, struct source_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number;

	if (!line)
		return;
	set_file(unit, dwarf_linesrc(line, NULL, NULL), frame);
	if (!dwarf_lineno(line, &number) && number > 0)
		frame->line = number;
}

size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t address,
			struct source_frame frames[SOURCE_FRAMES_MAX])
{
	Dwarf_Die unit, function, scopes[SOURCE_FRAMES_MAX];
	size_t count = 0;
	bool has_function;

	if (!dwarf_units_find(lines->units, address, &unit, &function, &has_function))
		return 0;
	if (has_function)
		count = find_scopes(&function, address, scopes);
	frames[0] = (struct source_frame){ 0 };
	set_line(&unit, address, &frames[0]);
	for (size_t i = 0; i < count; i++) {
		Dwarf_Die *scope = &scopes[count - 1 - i];

		frames[i].function = name_of(scope);
		if (i + 1 == count)
			break;
		frames[i + 1] = (struct source_frame){ 0 };
		set_call(&unit, scope, &frames[i + 1]);
	}
	/* A unit without a function or a line there has nothing to say. */
	return count ? count : frames[0].file != NULL;
}
