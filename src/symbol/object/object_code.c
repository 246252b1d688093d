/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a file is loaded, and the code in it. */
#include <string.h>
#include <unistd.h>

#include "symbol/elf/go_table.h"
#include "symbol/object/object_internal.h"
#include "symbol/object/probe_place.h"

/* Space for an instruction at least after the one that is asked for. */
enum { INSTRUCTION_BYTES_MAX = 16 };

void object_segments(const struct object *object, struct segments_answer *answer)
{
	Elf *elf = object->program.elf;
	size_t count;

	memset(answer, 0, sizeof(*answer));
	if (!elf || elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && answer->count < SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, i, &header) && header.p_type == PT_LOAD)
			answer->segments[answer->count++] = (struct segment){
				.file_offset = header.p_offset,
				.file_bytes = header.p_filesz,
				.address = header.p_vaddr,
				.memory_bytes = header.p_memsz,
				.is_code = header.p_flags & PF_X,
			};
	}
}

static bool find_exported(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name, GElf_Sym *symbol)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!data || !data->d_buf || !symbol_bytes)
		return false;
	for (size_t i = 0; i < data->d_size / symbol_bytes; i++) {
		const char *found;

		if (!gelf_getsym(data, i, symbol) || symbol->st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol->st_info) != STT_FUNC)
			continue;
		found = elf_strptr(elf, header->sh_link, symbol->st_name);
		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

void object_find_function(struct object *object, const char *name, struct function_answer *answer)
{
	Elf *elf = object->program.elf;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	*answer = (struct function_answer){ 0 };
	if (!elf || gelf_getclass(elf) != ELFCLASS64)
		return;
	while (!answer->is_found && (section = elf_nextscn(elf, section)))
		answer->is_found =
			gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
			find_exported(elf, section, &header, name, &symbol) &&
			probe_place_find(object, symbol.st_value, symbol.st_size, true, &answer->file_offset);
}

/* The part of the file that holds code around a place. */
static bool find_segment(const struct object *object, uint64_t file_offset, uint64_t *start, uint64_t *end)
{
	struct segments_answer all;

	object_segments(object, &all);
	for (uint32_t i = 0; i < all.count; i++) {
		const struct segment *segment = &all.segments[i];

		if (!segment->is_code || file_offset < segment->file_offset ||
		    file_offset - segment->file_offset >= segment->file_bytes)
			continue;
		*start = segment->file_offset;
		if (__builtin_add_overflow(*start, segment->file_bytes, end))
			*end = UINT64_MAX;
		return true;
	}
	return false;
}

/* Where the function begins in the file, and where it ends if that is known. */
static void find_function(struct object *object, uint64_t file_offset, uint64_t *start, uint64_t *end)
{
	struct cfi_function nameless;
	struct elf_symbol symbol;
	struct go_place place;
	uint64_t address;

	if (!elf_address_at(object->program.elf, file_offset, &address))
		return;
	object_open_symbols(object);
	if (elf_symbols_find(object->symbols, address, &symbol)) {
		*start = file_offset - (address - symbol.start);
		*end = *start + (symbol.end - symbol.start);
	} else if (object_go_table(object) && go_table_find(object->go, address, &place)) {
		*start = file_offset - (address - place.start);
	} else if (object_cfi_function(object, address, &nameless)) {
		*start = file_offset - (address - nameless.begin);
		*end = *start + (nameless.end - nameless.begin);
	}
}

size_t object_read_bytes(const struct object *object, uint64_t at, uint8_t *bytes, size_t size_bytes)
{
	size_t file_bytes;
	const char *file;
	ssize_t n;

	if (object->program.fd >= 0) {
		n = at > INT64_MAX ? -1 : pread(object->program.fd, bytes, size_bytes, at);
		return n > 0 ? n : 0;
	}
	file = elf_rawfile(object->program.elf, &file_bytes);
	if (!file || at >= file_bytes)
		return 0;
	if (size_bytes > file_bytes - at)
		size_bytes = file_bytes - at;
	memcpy(bytes, file + at, size_bytes);
	return size_bytes;
}

void object_read_code(struct object *object, uint64_t file_offset, size_t size_bytes, struct code_answer *answer)
{
	uint64_t low, high, start = UINT64_MAX, end = UINT64_MAX;

	answer->file_offset = file_offset;
	answer->size_bytes = 0;
	if (size_bytes > CODE_BYTES_MAX)
		size_bytes = CODE_BYTES_MAX;
	if (object->flags & ANSWER_NOT_ELF || !find_segment(object, file_offset, &low, &high))
		return;
	find_function(object, file_offset, &start, &end);
	if (start < low || start > file_offset || file_offset - start + INSTRUCTION_BYTES_MAX > size_bytes) {
		start = file_offset - low > size_bytes / 2 ? file_offset - size_bytes / 2 : low;
		end = high;
	}
	if (end > high || end <= file_offset)
		end = high;
	if (size_bytes > end - start)
		size_bytes = end - start;
	answer->file_offset = start;
	answer->size_bytes = object_read_bytes(object, start, answer->code, size_bytes);
}
