/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sorted array of 8 bytes a symbol: names and sizes are read from the mapped file when
 * a lookup needs them, so that a big table costs little.
 */
#include "symbol/elf/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"

enum {
	TABLES_MAX = 2 * ELF_SYMBOL_FILES_MAX, /* .symtab and .dynsym of each */
	INDEX_BITS = 29,
	SYMBOLS_MAX = 1 << 24, /* 128 MB of index; Chromium has 2^20 */
	NESTING_MAX = 64,      /* entries to walk back in search of a function around an address */
};

struct symbol_table {
	Elf *elf;
	Elf_Data *symbols;
	size_t strings; /* section number of the names */
	bool is_full;   /* .symtab: what it does not name has no name */
};

struct elf_symbols {
	enum elf_symbol_kind kind;
	struct symbol_table tables[TABLES_MAX];
	size_t table_count;
	uint64_t base;     /* addresses are kept as 32-bit distances from it */
	uint64_t *entries; /* distance << 32 | table << INDEX_BITS | index */
	size_t count, capacity;
};

/* The lowest loaded address. */
static uint64_t find_base(Elf *elf)
{
	uint64_t base = UINT64_MAX;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_LOAD && segment.p_vaddr < base)
			base = segment.p_vaddr;
	}
	return base == UINT64_MAX ? 0 : base;
}

static bool is_code(Elf *elf, size_t section)
{
	GElf_Shdr header;
	Elf_Scn *scn = section < SHN_LORESERVE ? elf_getscn(elf, section) : NULL;

	return scn && gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR;
}

/* Assembly code often has labels that nobody declared to be functions. */
static bool is_function(Elf *elf, const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_shndx != SHN_UNDEF;
	case STT_NOTYPE:
		return symbol->st_shndx != SHN_UNDEF && symbol->st_name && is_code(elf, symbol->st_shndx);
	}
	return false;
}

/* Of a thread's variables the table has no address, but a place in each thread's block. */
static bool is_wanted(const struct elf_symbols *symbols, Elf *elf, const GElf_Sym *symbol)
{
	if (symbols->kind == ELF_FUNCTIONS)
		return is_function(elf, symbol);
	return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx != SHN_ABS;
}

static void add_entry(struct elf_symbols *symbols, uint64_t address, size_t table, size_t index)
{
	if (address < symbols->base || address - symbols->base > UINT32_MAX || symbols->count >= SYMBOLS_MAX)
		return;
	ARRAY_GROW(symbols->entries, symbols->count, symbols->capacity, 1024);
	symbols->entries[symbols->count++] = (address - symbols->base) << 32 | (uint64_t)table << INDEX_BITS | index;
}

static void add_table(struct elf_symbols *symbols, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	size_t table = symbols->table_count;
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count;

	if (table == TABLES_MAX || !data || !data->d_buf || !symbol_bytes)
		return;
	symbols->tables[table] = (struct symbol_table){
		.elf = elf,
		.symbols = data,
		.strings = header->sh_link,
		.is_full = header->sh_type == SHT_SYMTAB,
	};
	symbols->table_count++;
	count = data->d_size / symbol_bytes;
	for (size_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, i, &symbol) && is_wanted(symbols, elf, &symbol))
			add_entry(symbols, symbol.st_value, table, i);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct elf_symbols *elf_symbols_new(Elf *const *files, size_t count, enum elf_symbol_kind kind)
{
	struct elf_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->kind = kind;
	symbols->base = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		Elf_Scn *scn = NULL;

		if (!files[i])
			continue;
		/* All of them have the program headers of the file that was mapped. */
		if (symbols->base == UINT64_MAX)
			symbols->base = find_base(files[i]);
		while ((scn = elf_nextscn(files[i], scn))) {
			GElf_Shdr header;

			if (gelf_getshdr(scn, &header) &&
			    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
				add_table(symbols, files[i], scn, &header);
		}
	}
	if (symbols->count)
		qsort(symbols->entries, symbols->count, sizeof(*symbols->entries), by_value);
	return symbols;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->entries);
	free(symbols);
}

size_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->count;
}

struct candidate {
	struct elf_symbol symbol;
	unsigned int rank;
};

/* Which of several names for one address people know it by. */
static unsigned int rank_of(const GElf_Sym *symbol, const char *name)
{
	unsigned int rank = 0;

	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		rank += 32;
	if (symbol->st_size)
		rank += 16;
	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		rank += 8;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank += 4;
	if (name[0] != '_' || name[1] != '_')
		rank += 2;
	if (name[0] != '_')
		rank += 1;
	return rank;
}

static uint64_t section_end(Elf *elf, size_t section)
{
	GElf_Shdr header;
	Elf_Scn *scn = section < SHN_LORESERVE ? elf_getscn(elf, section) : NULL;

	return scn && gelf_getshdr(scn, &header) ? header.sh_addr + header.sh_size : 0;
}

/* Reads entry i; false when it does not hold the address. next: where the next name begins. */
static bool read_entry(const struct elf_symbols *symbols, size_t i, uint64_t address, uint64_t next,
		       struct candidate *candidate)
{
	uint64_t entry = symbols->entries[i];
	const struct symbol_table *table = &symbols->tables[(uint32_t)entry >> INDEX_BITS];
	const char *name;
	GElf_Sym symbol;

	if (!gelf_getsym(table->symbols, entry & ((1u << INDEX_BITS) - 1), &symbol))
		return false;
	candidate->symbol.start = symbols->base + (entry >> 32);
	candidate->symbol.end = candidate->symbol.start + symbol.st_size;
	if (!symbol.st_size) {
		uint64_t end = section_end(table->elf, symbol.st_shndx);

		/*
		 * Of a file without its full table, what follows may be nameless functions.
		 * Variables have sizes: what has none marks the end of something.
		 */
		if ((!table->is_full || symbols->kind == ELF_VARIABLES) && address != candidate->symbol.start)
			return false;
		candidate->symbol.end = next < end ? next : end;
	}
	if (address >= candidate->symbol.end)
		return false;
	name = elf_strptr(table->elf, table->strings, symbol.st_name);
	if (!name || !name[0] || name[0] == '$' || !strncmp(name, ".L", 2))
		return false;
	candidate->symbol.name = name;
	candidate->rank = rank_of(&symbol, name);
	return true;
}

bool elf_symbols_find(const struct elf_symbols *symbols, uint64_t address, struct elf_symbol *symbol)
{
	struct candidate best = { .rank = 0 };
	uint64_t distance = address - symbols->base, next;
	size_t low;

	if (address < symbols->base || distance > UINT32_MAX)
		return false;
	low = BOUND(0, symbols->count, i, symbols->entries[i] >> 32 <= distance);
	next = low < symbols->count ? symbols->base + (symbols->entries[low] >> 32) : UINT64_MAX;
	for (size_t i = low, walked = 0; i-- && walked < NESTING_MAX; walked++) {
		struct candidate candidate;

		/* A declared function wins over a label within it, else the nearest start. */
		if (best.rank >= 32 && best.symbol.start != symbols->base + (symbols->entries[i] >> 32))
			break;
		if (!read_entry(symbols, i, address, next, &candidate))
			continue;
		if (!best.symbol.name || candidate.rank > best.rank)
			best = candidate;
	}
	if (!best.symbol.name)
		return false;
	*symbol = best.symbol;
	return true;
}
