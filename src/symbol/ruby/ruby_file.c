/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interpreter exports its version, for programs that embed it. The function that evaluates and the thread-local
 * pointer to a thread's state are exported up to 3.2; later ones are in the symbol table only, unless it is stripped.
 */
#include "symbol/ruby/ruby_file.h"

#include <string.h>

#include "symbol/elf/elf_file.h"
#include "symbol/ruby/ruby_layout.h"

enum {
	SYMBOLS_MAX = 1 << 20,
	RELOCATIONS_MAX = 1 << 20,
	VERSION_BYTES = 8, /* "3.1.2" and a NUL, with what is behind it */
	VERSION_DIGITS_MAX = 99,
};

struct interpreter {
	uint64_t version;              /* address of its text; 0: not exported */
	uint64_t evaluate, size_bytes; /* rb_vm_exec() */
	uint64_t context_offset;       /* of ruby_current_ec in the file's thread-local memory */
	uint64_t context_symbol;       /* its number among exported symbols; 0: it is not one */
	bool has_context;
};

/* number: 0 unless it is exported. */
static void note_symbol(struct interpreter *interpreter, const char *name, const GElf_Sym *symbol, size_t number)
{
	if (!strcmp(name, "ruby_version")) {
		interpreter->version = symbol->st_value;
	} else if (!strcmp(name, "rb_vm_exec")) {
		interpreter->evaluate = symbol->st_value;
		interpreter->size_bytes = symbol->st_size;
	} else if (!strcmp(name, "ruby_current_ec") && GELF_ST_TYPE(symbol->st_info) == STT_TLS) {
		interpreter->context_offset = symbol->st_value;
		interpreter->context_symbol = number;
		interpreter->has_context = true;
	}
}

static void read_symbols(Elf *elf, uint32_t type, struct interpreter *interpreter)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), count;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &header) || header.sh_type != type)
			continue;
		data = elf_getdata(scn, NULL);
		count = data && data->d_buf && symbol_bytes ? data->d_size / symbol_bytes : 0;
		for (size_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
			const char *name;
			GElf_Sym symbol;

			if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
				continue;
			name = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (name && name[0] == 'r')
				note_symbol(interpreter, name, &symbol, type == SHT_DYNSYM ? i : 0);
		}
	}
}

/* "3.1.2" to 0x0301; 0: it is none. */
static uint32_t parse_version(const char *text)
{
	unsigned int numbers[2] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		if (*text < '0' || *text > '9')
			return 0;
		while (*text >= '0' && *text <= '9' && numbers[i] <= VERSION_DIGITS_MAX)
			numbers[i] = numbers[i] * 10 + (unsigned int)(*text++ - '0');
		if (*text++ != '.' || numbers[i] > VERSION_DIGITS_MAX)
			return 0;
	}
	return numbers[0] << 8 | numbers[1];
}

/*
 * Where the dynamic linker puts the number by which threads know the file's thread-local memory, in which the
 * symbol is; 0: the file does not ask for it.
 */
static uint64_t find_module(Elf *elf, uint64_t symbol)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Rela relocation;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; i < RELOCATIONS_MAX && data && gelf_getrela(data, i, &relocation); i++)
			if (GELF_R_TYPE(relocation.r_info) == R_X86_64_DTPMOD64 &&
			    (!GELF_R_SYM(relocation.r_info) || GELF_R_SYM(relocation.r_info) == symbol))
				return relocation.r_offset;
	}
	return 0;
}

static bool is_executable(Elf *elf)
{
	GElf_Ehdr header;
	GElf_Phdr segment;

	if (gelf_getehdr(elf, &header) && header.e_type == ET_EXEC)
		return true;
	for (int i = 0; gelf_getphdr(elf, i, &segment); i++)
		if (segment.p_type == PT_INTERP)
			return true;
	return false;
}

static void put_process(Elf *elf, const struct interpreter *interpreter, struct unwind_file *file)
{
	const struct ruby_version *version = ruby_version_find(file->ruby_version);
	bool is_library = !is_executable(elf);
	uint64_t module = is_library ? find_module(elf, interpreter->context_symbol) : 0;

	if (!version)
		return;
	if (!interpreter->size_bytes || !interpreter->has_context || (is_library && !module)) {
		file->ruby_version = UNWIND_RUBY_UNKNOWN;
		return;
	}
	file->ruby = (struct ruby_process){
		.code_begin = interpreter->evaluate,
		.code_bytes = interpreter->size_bytes,
		.module_at = module,
		.context_offset = interpreter->context_offset,
		.frame_bytes = version->frame_bytes,
	};
}

void ruby_file_find(Elf *elf, struct unwind_file *file)
{
	struct interpreter interpreter = { 0 };
	char text[VERSION_BYTES];

	read_symbols(elf, SHT_DYNSYM, &interpreter);
	if (!interpreter.version || !elf_read_at(elf, interpreter.version, text, sizeof(text)))
		return;
	text[sizeof(text) - 1] = '\0';
	file->ruby_version = parse_version(text);
	if (!file->ruby_version)
		return;
	if (!interpreter.size_bytes || !interpreter.has_context)
		read_symbols(elf, SHT_SYMTAB, &interpreter);
	put_process(elf, &interpreter, file);
}
