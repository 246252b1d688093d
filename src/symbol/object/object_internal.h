/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of object.h share. */
#pragma once

#include <elfutils/libdw.h>

#include "symbol/elf/elf_file.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/object/object.h"
#include "unwind/cfi.h"

struct source_frame;

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

/* The function that holds an address, by call frame information; false: it has none. */
bool object_cfi_function(struct object *object, uint64_t address, struct cfi_function *function);

/* Reads what the file has at a place; returns how many bytes there were. */
size_t object_read_bytes(const struct object *object, uint64_t file_offset, uint8_t *bytes, size_t size_bytes);

/* Adds as much of a string to an answer as a name may have; its place there, 0 when there is none. */
uint32_t object_put_name(struct answer *answer, const char *string);

/* The same of what a linker's name means, and a suffix. */
uint32_t object_put_function(struct answer *answer, const char *linked, const char *suffix);

/* The same of the path of the file that a place comes from. */
uint32_t object_put_file(struct answer *answer, const struct source_frame *frame);
