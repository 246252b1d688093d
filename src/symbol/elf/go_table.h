/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Go's linker tells Go's runtime of each function, .gopclntab: it is there in stripped
 * programs too. Formats of Go 1.18 and 1.20 (go/src/runtime/symtab.go, internal/abi/symtab.go).
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind_table.h"

struct go_table;

/* NULL when the file has none, or in a format that we do not know. Borrows the file. */
struct go_table *go_table_open(Elf *elf);

/* As go_table_open(), of the section's contents; text: where the code is if they do not say so. */
struct go_table *go_table_new(const void *bytes, uint64_t size_bytes, uint64_t text);
void go_table_free(struct go_table *table);

struct go_place {
	const char *function; /* in the file */
	const char *file;     /* NULL: unknown */
	uint32_t line;
	uint64_t start; /* address of the function */
};

bool go_table_find(const struct go_table *table, uint64_t address, struct go_place *place);

/* Where the code of a function lies whose name is this; false: there is none. Looks at all names. */
bool go_table_function(const struct go_table *table, const char *name, uint64_t *begin, uint64_t *end);

/*
 * How far the function at an address has moved the stack pointer since it was called, bytes; false: that is unknown.
 * *is_outermost: nobody called it.
 */
bool go_table_moved(const struct go_table *table, uint64_t address, uint32_t *moved_bytes, bool *is_outermost);

/* The rules for Go's code, from how far its functions have moved the stack pointer. */
void go_table_unwind(const struct go_table *table, struct unwind_table *unwind);
