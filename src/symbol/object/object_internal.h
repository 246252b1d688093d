/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of object.h share. */
#pragma once

#include <elfutils/libdw.h>

#include "symbol/elf/elf_file.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/object/object.h"
#include "unwind/cfi.h"

struct object {
	struct elf_file program, debug, shared, mini;
	Dwarf *shared_dwarf;
	void *program_bytes, *mini_bytes; /* of files that lie in memory */
	struct elf_symbols *symbols, *variables;
	struct dwarf_file *dwarf;
	struct dwarf_variables *dwarf_variables; /* of dwarf */
	struct go_table *go;
	struct cfi_function *functions; /* by call frame information; without names */
	size_t function_count;
	char *path;
	const struct file_source *source; /* NULL: none */
	uint32_t flags;
	bool has_tried_debug, has_tried_dwarf, has_tried_go, has_tried_functions;
};

/* Symbols of all files that have any. */
struct elf_symbols *object_symbols_new(struct object *object, enum elf_symbol_kind kind);

/* object->symbols are there then. */
void object_open_symbols(struct object *object);

/* object->dwarf is there then, if there is any. */
void object_open_dwarf(struct object *object);

/* NULL when the program is not Go's. */
const struct go_table *object_go_table(struct object *object);

/* object->debug is there then, if there is any. */
void object_open_debug(struct object *object);

/* The function that holds an address, by call frame information; false: it tells of none. */
bool object_cfi_function(struct object *object, uint64_t address, struct cfi_function *function);
