/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/go/go_layout.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "symbol/dwarf/dwarf_units.h"
#include "symbol/elf/elf_file.h"
#include "symbol/go/go_stripped.h"

enum {
	SYMBOLS_MAX = 1 << 22,
	ENTRIES_MAX = 1 << 22, /* of debug information that are looked at */
	WORD_BYTES = 8,
	STRING_BYTES = 2 * WORD_BYTES, /* an address and a length */
};

/* --- Addresses ------------------------------------------------------------------------------- */

struct runtime_symbol {
	uint64_t address, size_bytes;
};

struct runtime_symbols {
	struct runtime_symbol list, list_count, reasons;
};

static void note_symbol(struct runtime_symbols *symbols, const char *name, const GElf_Sym *symbol)
{
	const struct runtime_symbol found = { symbol->st_value, symbol->st_size };

	if (!strcmp(name, "runtime.allgptr"))
		symbols->list = found;
	else if (!strcmp(name, "runtime.allglen"))
		symbols->list_count = found;
	else if (!strcmp(name, "runtime.waitReasonStrings"))
		symbols->reasons = found;
}

static void read_symbols(Elf *elf, struct runtime_symbols *symbols)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 1; data && i < SYMBOLS_MAX && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name && !strncmp(name, "runtime.", strlen("runtime.")))
				note_symbol(symbols, name, &symbol);
		}
	}
}

/* --- Reasons --------------------------------------------------------------------------------- */

/* What the file has at an address, before anything runs. */
static bool read_data(Elf *elf, uint64_t address, void *bytes, size_t size_bytes)
{
	uint64_t offset;
	Elf_Data *data;

	if (!elf_offset_at(elf, address, &offset))
		return false;
	data = elf_getdata_rawchunk(elf, offset, size_bytes, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size < size_bytes)
		return false;
	memcpy(bytes, data->d_buf, size_bytes);
	return true;
}

/* Of a program that may lie anywhere, the dynamic loader puts addresses in: into words[], from address on. */
static void relocate(Elf *elf, uint64_t address, uint64_t *words, size_t count)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset >= address && (rela.r_offset - address) / WORD_BYTES < count)
				words[(rela.r_offset - address) / WORD_BYTES] = rela.r_addend;
	}
}

static bool read_reasons(Elf *elf, const struct runtime_symbol *reasons, struct go_layout *layout)
{
	uint64_t words[2 * GO_REASONS_MAX];
	size_t count = reasons->size_bytes / STRING_BYTES;

	if (!count || count > GO_REASONS_MAX || !read_data(elf, reasons->address, words, count * STRING_BYTES))
		return false;
	relocate(elf, reasons->address, words, 2 * count);
	for (size_t i = 0; i < count; i++) {
		uint64_t length = words[2 * i + 1];

		if (length >= GO_REASON_BYTES)
			length = GO_REASON_BYTES - 1;
		if (length && !read_data(elf, words[2 * i], layout->reasons[i], length))
			return false;
	}
	layout->reason_count = count;
	return true;
}

/* --- Offsets --------------------------------------------------------------------------------- */

/* The structure that an entry's type is. */
static bool find_structure(Dwarf_Die *entry, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	for (unsigned int i = 0; i < 8; i++) {
		if (!dwarf_attr(entry, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
			return false;
		if (dwarf_tag(type) == DW_TAG_structure_type)
			return true;
		entry = type;
	}
	return false;
}

/* A member of a structure, and where it lies in it. */
static bool find_member(Dwarf_Die *structure, const char *name, Dwarf_Die *member, uint32_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	const char *found;
	int err;

	for (err = dwarf_child(structure, member); !err; err = dwarf_siblingof(member, member)) {
		found = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
		if (!found || strcmp(found, name) != 0)
			continue;
		if (!dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
		    dwarf_formudata(&attribute, &value) || value > GO_GOROUTINE_BYTES_MAX)
			return false;
		*offset = value;
		return true;
	}
	return false;
}

/* The same of a member of a member. */
static bool find_inner(Dwarf_Die *structure, const char *outer, const char *inner, uint32_t *offset)
{
	Dwarf_Die member, type, inner_member;
	uint32_t outer_offset, inner_offset;

	if (!find_member(structure, outer, &member, &outer_offset) || !find_structure(&member, &type) ||
	    !find_member(&type, inner, &inner_member, &inner_offset))
		return false;
	*offset = outer_offset + inner_offset;
	return true;
}

static bool find_offsets(Dwarf_Die *goroutine, struct go_layout *layout)
{
	Dwarf_Die member;

	return find_inner(goroutine, "stack", "lo", &layout->stack_low) &&
	       find_inner(goroutine, "stack", "hi", &layout->stack_high) &&
	       find_inner(goroutine, "sched", "sp", &layout->saved_sp) &&
	       find_inner(goroutine, "sched", "pc", &layout->saved_pc) &&
	       find_member(goroutine, "atomicstatus", &member, &layout->status) &&
	       find_member(goroutine, "waitreason", &member, &layout->reason) &&
	       find_member(goroutine, "goid", &member, &layout->number) &&
	       find_member(goroutine, "gopc", &member, &layout->creator);
}

/* The structure of a goroutine, among the outermost entries of a unit. */
static bool find_goroutine(Dwarf_Die *unit, size_t *entry_count, Dwarf_Die *goroutine)
{
	int err;

	for (err = dwarf_child(unit, goroutine); !err && (*entry_count)++ < ENTRIES_MAX;
	     err = dwarf_siblingof(goroutine, goroutine)) {
		const char *name = dwarf_tag(goroutine) == DW_TAG_structure_type ? dwarf_diename(goroutine) : NULL;

		if (name && !strcmp(name, "runtime.g"))
			return true;
	}
	return false;
}

static bool read_offsets(struct dwarf_units *units, struct go_layout *layout)
{
	size_t count = units ? dwarf_units_count(units) : 0, entry_count = 0;
	uint64_t start, end;
	Dwarf_Die unit, goroutine;

	/* The runtime's unit has it, as a rule. */
	for (int is_other = 0; is_other < 2; is_other++) {
		for (size_t i = 0; i < count; i++) {
			const char *name = dwarf_units_nth(units, i, &unit, &start, &end) ? dwarf_diename(&unit) : NULL;

			if (name && !strcmp(name, "runtime") == !is_other &&
			    find_goroutine(&unit, &entry_count, &goroutine))
				return find_offsets(&goroutine, layout);
		}
	}
	return false;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* How much of a goroutine has to be read. */
static uint32_t size_of(const struct go_layout *layout)
{
	uint32_t last = larger(layout->stack_low, layout->stack_high);

	last = larger(larger(last, layout->saved_sp), layout->saved_pc);
	last = larger(larger(last, layout->status), layout->reason);
	last = larger(larger(last, layout->number), layout->creator);
	return (last + WORD_BYTES + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

void go_layout_find(Elf *program, Elf *debug, const struct go_table *table, struct dwarf_units *units,
		    struct go_layout *layout)
{
	struct runtime_symbols symbols = { 0 };
	struct runtime_symbol *reasons = &symbols.reasons;

	memset(layout, 0, sizeof(*layout));
	read_symbols(program, &symbols);
	if (!symbols.list.address)
		read_symbols(debug, &symbols);
	layout->list = symbols.list.address;
	layout->list_count = symbols.list_count.address;
	layout->result = GO_NO_SYMBOLS;
	if ((!layout->list || !layout->list_count) && !go_stripped_find_list(program, table, layout))
		return;
	if (!reasons->address && !go_stripped_find_reasons(program, table, &reasons->address, &reasons->size_bytes))
		return;
	layout->result = GO_NO_LAYOUT;
	if ((!read_offsets(units, layout) && !go_stripped_offsets(program, layout)) ||
	    !read_reasons(program, reasons, layout))
		return;
	layout->size_bytes = size_of(layout);
	if (layout->size_bytes <= GO_GOROUTINE_BYTES_MAX)
		layout->result = GO_READ;
}
