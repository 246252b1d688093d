/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file that is mapped, not read, and the descriptor it is mapped from. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/byte_cursor.h"

struct elf_file {
	Elf *elf; /* NULL: not open */
	int fd;
	void *mapping; /* NULL: it lies in memory */
	size_t mapping_bytes;
	char *path; /* where it was found; NULL: unknown */
};

/* Takes the descriptor, which is closed when it leads to no ELF file: -EINVAL. */
int elf_file_open(int fd, struct elf_file *file);
void elf_file_close(struct elf_file *file);

/* Takes the file's pages out of this process; those that are needed again come back. */
void elf_file_release(const struct elf_file *file);

/* The section with this name and contents, or NULL. header may be NULL. */
Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *header);

/*
 * The contents of a section, of a debug section unpacked if libdw has opened the file. Empty when there is none,
 * or its numbers are not in this machine's byte order.
 */
struct byte_cursor elf_debug_section(Elf *elf, const char *name);

/* Whether it is still packed: of a file that libdw has opened, it could not be unpacked. */
bool elf_is_section_packed(Elf *elf, const char *name);

bool elf_has_symtab(Elf *elf);
bool elf_has_lines(Elf *elf);

/* The address that the byte at a place of the file is loaded to, and back. */
bool elf_address_at(Elf *elf, uint64_t file_offset, uint64_t *address);
bool elf_offset_at(Elf *elf, uint64_t address, uint64_t *file_offset);

/* What the file has at an address, before anything runs; false: not all of these bytes. */
bool elf_read_at(Elf *elf, uint64_t address, void *bytes, size_t size_bytes);
