/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug information of one file, opened, for those who look things up in it. */
#pragma once

#include <elfutils/libdw.h>

#include "symbol/elf/elf_file.h"

struct dwarf_file {
	const struct elf_file *file;
	Dwarf *dwarf, *alt;
	struct dwarf_units *units;
	struct dwarf_definitions *definitions;
	struct line_table *lines;
	struct line_table *alt_lines; /* of the shared file; NULL without one */
};

/*
 * Borrows file. alt: the file that several debug files share strings with (dwz), or NULL; it is
 * borrowed too. 0; -ENOENT without debug information; -EINVAL when it cannot be read.
 */
int dwarf_file_open(const struct elf_file *file, Dwarf *alt, struct dwarf_file **out);
void dwarf_file_close(struct dwarf_file *dwarf);

/* Gives back what libdw has read so far; it keeps all of it otherwise. -EINVAL: close it now. */
int dwarf_file_shrink(struct dwarf_file *dwarf);
