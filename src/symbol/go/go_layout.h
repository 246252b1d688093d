/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the runtime of a Go program keeps its goroutines, and how it lays one out: from the symbols and the debug
 * information of its file.
 *
 * Owns: what is known of Go's runtime: where it has its goroutines, and what they do.
 * Used by: symbol/object, symbol/worker.
 */
#pragma once

#include <gelf.h>

#include "symbol/go/goroutine_format.h"

struct dwarf_units;
struct go_table;

/*
 * Finds them in a program, whose symbol table may be in a second file; that may be NULL. table: of its functions. units:
 * of its debug information; NULL: none.
 */
void go_layout_find(Elf *program, Elf *debug, const struct go_table *table, struct dwarf_units *units,
		    struct go_layout *layout);
