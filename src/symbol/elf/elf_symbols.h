/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions or the variables of one ELF file, by address, from up to three symbol tables: its
 * own, that of its debug file and that in .gnu_debugdata. Names point into the files.
 *
 * Owns: ELF files: symbol tables, build-ids, Go's table.
 * Used by: symbol/dwarf, symbol/python, symbol/ruby, symbol/v8, symbol/go, symbol/answer, symbol/names, symbol/object, symbol/space, symbol/worker, symbol.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct elf_symbol {
	const char *name; /* as linked; may have a version after '@' */
	uint64_t start, end;
};

enum { ELF_SYMBOL_FILES_MAX = 3 };

enum elf_symbol_kind { ELF_FUNCTIONS, ELF_VARIABLES };

/* NULL stands for a file that is not there. */
struct elf_symbols *elf_symbols_new(Elf *const *files, size_t count, enum elf_symbol_kind kind);
void elf_symbols_free(struct elf_symbols *symbols);

bool elf_symbols_find(const struct elf_symbols *symbols, uint64_t address, struct elf_symbol *symbol);
size_t elf_symbols_count(const struct elf_symbols *symbols);

/*
 * The function that a stub of the procedure linkage table calls. False when the address is in no
 * such stub.
 */
bool elf_plt_find(Elf *elf, uint64_t address, struct elf_symbol *function);

/* The symbol whose address the dynamic linker puts into a slot; NULL: none. May have a version after '@'. */
const char *elf_slot_name(Elf *elf, uint64_t slot);
