/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_file.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "symbol/dwarf/dwarf_definitions.h"
#include "symbol/dwarf/dwarf_units.h"
#include "symbol/dwarf/line_table.h"

/* libdw unpacks what it can, and goes on without what takes more memory than there may be. */
static bool is_all_unpacked(Elf *elf)
{
	static const char *const names[] = {
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (elf_is_section_packed(elf, names[i]))
			return false;
	return true;
}

static int open_dwarf(struct dwarf_file *dwarf)
{
	dwarf->dwarf = dwarf_begin_elf(dwarf->file->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf)
		return -EINVAL;
	if (!is_all_unpacked(dwarf->file->elf)) {
		dwarf_end(dwarf->dwarf);
		dwarf->dwarf = NULL;
		return -EFBIG;
	}
	if (dwarf->alt)
		dwarf_setalt(dwarf->dwarf, dwarf->alt);
	return 0;
}

int dwarf_file_open(const struct elf_file *file, Dwarf *alt, struct dwarf_file **out)
{
	struct dwarf_file *dwarf;

	if (!elf_has_lines(file->elf))
		return -ENOENT;
	dwarf = xcalloc(1, sizeof(*dwarf));
	dwarf->file = file;
	dwarf->alt = alt;
	if (open_dwarf(dwarf)) {
		free(dwarf);
		return -EINVAL;
	}
	dwarf->units = dwarf_units_new(dwarf->dwarf, file);
	dwarf->definitions = dwarf_definitions_new(dwarf->units, file);
	dwarf->lines = line_table_new(file->elf);
	if (alt)
		dwarf->alt_lines = line_table_new(dwarf_getelf(alt));
	*out = dwarf;
	return 0;
}

int dwarf_file_shrink(struct dwarf_file *dwarf)
{
	dwarf_end(dwarf->dwarf);
	if (open_dwarf(dwarf))
		return -EINVAL;
	dwarf_units_reset(dwarf->units, dwarf->dwarf);
	return 0;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
	if (!dwarf)
		return;
	line_table_free(dwarf->alt_lines);
	line_table_free(dwarf->lines);
	dwarf_definitions_free(dwarf->definitions);
	dwarf_units_free(dwarf->units);
	dwarf_end(dwarf->dwarf);
	free(dwarf);
}
