/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined calls from DWARF. Only the units that hold an address asked for are
 * read. Strings point into the file and live as long as the object.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf_file.h"

struct dwarf_lines;

struct source_frame {
	const char *function;	/* linker's name if there is one, else the plain name, or NULL */
	const char *root;	/* folder where the compiler ran, or NULL */
	const char *folder;	/* relative to root unless it is a full path, or NULL */
	const char *file;	/* path, relative to folder unless it is a full one, or NULL */
	uint32_t line;		/* 0: not known */
};

enum { SOURCE_FRAMES_MAX = 64 };

/*
 * Borrows file. alt: the file that several debug files share strings with (dwz), or NULL; it is
 * borrowed too. 0; -ENOENT without debug information; -EINVAL when it cannot be read.
 */
int dwarf_lines_open(const struct elf_file *file, Dwarf *alt, struct dwarf_lines **out);
void dwarf_lines_close(struct dwarf_lines *lines);

/* Gives back what libdw has read so far; it keeps all of it otherwise. -EINVAL: close it now. */
int dwarf_lines_shrink(struct dwarf_lines *lines);

/*
 * Fills in the frames at an address, innermost first: the last is the function itself, the
 * others are inlined in it. Their number, 0 when the address is in no unit.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t address,
			struct source_frame frames[SOURCE_FRAMES_MAX]);
