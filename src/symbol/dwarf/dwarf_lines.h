/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined calls from DWARF. Only the units that hold an address asked for are
 * read. Strings point into the file and live as long as the object.
 *
 * Owns: debug information: lines, inlined calls, variables and types.
 * Used by: symbol/go, symbol/object.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dwarf_file;

struct source_frame {
	const char *function; /* linker's name if there is one, else the plain name, or NULL */
	const char *root;     /* folder where the compiler ran, or NULL */
	const char *folder;   /* relative to root unless it is a full path, or NULL */
	const char *file;     /* path, relative to folder unless it is a full one, or NULL */
	uint32_t line;        /* 0: unknown */
};

enum { SOURCE_FRAMES_MAX = 64 };

/*
 * Fills in the frames at an address, innermost first: the last is the function itself, the
 * others are inlined in it. Their number, 0 when the address is in no unit.
 */
size_t dwarf_lines_find(const struct dwarf_file *dwarf, uint64_t address,
			struct source_frame frames[SOURCE_FRAMES_MAX]);
