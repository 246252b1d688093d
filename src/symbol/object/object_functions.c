/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a file that are called as a user writes it, and where they end. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/elf/demangle.h"
#include "symbol/elf/function_ends.h"
#include "symbol/elf/function_name.h"
#include "symbol/object/object_internal.h"
#include "symbol/object/probe_place.h"

enum { FUNCTION_BYTES_MAX = 1 << 20 };

struct search {
	struct object *object;
	const char *name, *word;
	struct symbol_functions *found;
	bool is_own;          /* the table at hand is the program's */
	uint64_t file_offset; /* of the function at hand */
};

static void add_place(struct search *search, uint64_t file_offset, enum function_place_kind kind)
{
	struct symbol_functions *found = search->found;

	if (found->place_count == FUNCTION_PLACES_MAX_FILE)
		found->is_cut = true;
	else
		found->places[found->place_count++] = (struct function_place){ file_offset, kind };
}

static bool is_known(const struct symbol_functions *found, uint64_t file_offset)
{
	for (uint32_t i = 0; i < found->place_count; i++)
		if (found->places[i].file_offset == file_offset && found->places[i].kind == FUNCTION_BEGINS)
			return true;
	return false;
}

static void on_end(void *data, uint64_t at, bool is_jump)
{
	struct search *search = data;

	add_place(search, search->file_offset + at, is_jump ? FUNCTION_JUMPS : FUNCTION_RETURNS);
}

/* Read, for the kernel puts the probes that there are into what is mapped of a file, ours as well. */
static bool find_ends(struct search *search, const GElf_Sym *symbol)
{
	bool is_whole = false;
	uint8_t *code;

	if (!symbol->st_size || symbol->st_size > FUNCTION_BYTES_MAX)
		return false;
	code = xcalloc(1, symbol->st_size);
	if (probe_place_read(search->object, search->file_offset, code, symbol->st_size) == symbol->st_size)
		is_whole = function_ends(code, symbol->st_size, symbol->st_value, on_end, search);
	free(code);
	return is_whole && search->found->place_count < FUNCTION_PLACES_MAX_FILE;
}

/* A function of which not all is known would seem to last for ever: it is left out. */
static void add(struct search *search, const GElf_Sym *symbol)
{
	struct symbol_functions *found = search->found;
	uint32_t place_count = found->place_count;

	if (!probe_place_find(search->object, symbol->st_value, symbol->st_size, search->is_own,
			      &search->file_offset)) {
		found->doubtful_count++;
		return;
	}
	if (is_known(found, search->file_offset))
		return;
	found->function_count++;
	add_place(search, search->file_offset, FUNCTION_BEGINS);
	if (!find_ends(search, symbol)) {
		found->place_count = place_count;
		found->is_cut = true;
	}
}

static bool is_called_so(const struct search *search, const char *symbol)
{
	char name[ANSWER_NAME_BYTES];

	if (!strcmp(symbol, search->name))
		return true;
	/* To demangle all of a large program's takes long. */
	if (!strstr(symbol, search->word))
		return false;
	demangle(symbol, name, sizeof(name));
	return function_is_called(name, search->name);
}

static void search_table(struct search *search, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Sym symbol;

	if (!data || !data->d_buf || !symbol_bytes)
		return;
	for (size_t i = 0; i < data->d_size / symbol_bytes; i++) {
		const char *name;

		if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && is_called_so(search, name))
			add(search, &symbol);
	}
}

static void search_file(struct search *search, Elf *elf, bool is_own)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	search->is_own = is_own;
	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
			search_table(search, elf, section, &header);
}

void object_find_functions(struct object *object, const char *name, struct symbol_functions *found)
{
	struct search search = { object, name, function_last_word(name), found, true, 0 };

	memset(found, 0, sizeof(*found));
	if (!object->program.elf || gelf_getclass(object->program.elf) != ELFCLASS64)
		return;
	object_open_symbols(object);
	search_file(&search, object->program.elf, true);
	search_file(&search, object->debug.elf, false);
	search_file(&search, object->mini.elf, true);
}
