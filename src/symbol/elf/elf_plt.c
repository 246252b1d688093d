/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs of the procedure linkage table have no symbols. What one jumps through gives its
 * function: the slot's relocation names it. That holds for every linker's layout.
 */
#include <string.h>

#include "symbol/elf/elf_symbols.h"

enum { STUB_BYTES = 16, STUB_GOT_BYTES = 8 };

static Elf_Scn *find_plt_section(Elf *elf, uint64_t address, GElf_Shdr *header, size_t *stub_bytes)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, header) || header->sh_type != SHT_PROGBITS || address < header->sh_addr ||
		    address - header->sh_addr >= header->sh_size)
			continue;
		name = elf_strptr(elf, names, header->sh_name);
		if (!name || (strcmp(name, ".plt") && strncmp(name, ".plt.", 5) && strcmp(name, ".iplt")))
			return NULL;
		*stub_bytes =
			strcmp(name, ".plt.got") || header->sh_entsize == STUB_BYTES ? STUB_BYTES : STUB_GOT_BYTES;
		return scn;
	}
	return NULL;
}

/* The slot that an x86-64 stub jumps through: jmp *distance(%rip), after endbr64 or bnd. */
static bool find_slot(const uint8_t *stub, size_t stub_bytes, uint64_t address, uint64_t *slot)
{
	for (size_t i = 0; i + 6 <= stub_bytes && i <= 5; i++) {
		int32_t distance;

		if (stub[i] != 0xff || stub[i + 1] != 0x25)
			continue;
		memcpy(&distance, stub + i + 2, sizeof(distance));
		*slot = address + i + 6 + distance;
		return true;
	}
	return false;
}

/* Where a stub leads that is used for the first time: push of one slot, and a jump through the next. */
static bool is_resolver(const uint8_t *stub)
{
	return stub[0] == 0xff && stub[1] == 0x35;
}

static const char *name_of_slot(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, uint64_t slot)
{
	Elf_Data *relocations = elf_getdata(scn, NULL), *symbols;
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	GElf_Shdr table_header;
	size_t count;

	if (!relocations || !table || !gelf_getshdr(table, &table_header) || !header->sh_entsize)
		return NULL;
	symbols = elf_getdata(table, NULL);
	if (!symbols)
		return NULL;
	count = relocations->d_size / header->sh_entsize;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;

		if (!gelf_getrela(relocations, i, &relocation))
			return NULL;
		if (relocation.r_offset == slot && gelf_getsym(symbols, GELF_R_SYM(relocation.r_info), &symbol))
			return elf_strptr(elf, table_header.sh_link, symbol.st_name);
	}
	return NULL;
}

const char *elf_slot_name(Elf *elf, uint64_t slot)
{
	Elf_Scn *relocations = NULL;

	while ((relocations = elf_nextscn(elf, relocations))) {
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(relocations, &header) || header.sh_type != SHT_RELA)
			continue;
		name = name_of_slot(elf, relocations, &header, slot);
		if (name && name[0])
			return name;
	}
	return NULL;
}

bool elf_plt_find(Elf *elf, uint64_t address, struct elf_symbol *function)
{
	GElf_Ehdr file;
	GElf_Shdr header;
	size_t stub_bytes, at;
	Elf_Scn *scn;
	Elf_Data *code;
	uint64_t slot;

	if (!gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64)
		return false;
	scn = find_plt_section(elf, address, &header, &stub_bytes);
	code = scn ? elf_getdata(scn, NULL) : NULL;
	if (!code || !code->d_buf)
		return false;
	at = (address - header.sh_addr) / stub_bytes * stub_bytes;
	if (at >= code->d_size || code->d_size - at < stub_bytes)
		return false;
	function->start = header.sh_addr + at;
	function->end = function->start + stub_bytes;
	if (stub_bytes == STUB_BYTES && is_resolver((const uint8_t *)code->d_buf + at)) {
		/* The dynamic linker writes itself into that slot: no relocation names it. */
		function->name = "_dl_runtime_resolve";
		return true;
	}
	if (!find_slot((const uint8_t *)code->d_buf + at, stub_bytes, function->start, &slot))
		return false;
	function->name = elf_slot_name(elf, slot);
	return function->name;
}
