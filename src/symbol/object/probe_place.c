/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/object/probe_place.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "symbol/elf/function_ends.h"
#include "symbol/object/object_internal.h"

enum {
	INSTRUCTION_BYTES_MAX = 15,
	BEFORE_BYTES_MAX = 1 << 20, /* from where a function begins to another entry of it */
};

/* The place in the file, if all bytes lie in one segment of code, and in the file. */
static bool find_offset(Elf *elf, uint64_t address, uint64_t size_bytes, uint64_t *file_offset)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		uint64_t at;

		if (!gelf_getphdr(elf, i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
		    address < header.p_vaddr)
			continue;
		at = address - header.p_vaddr;
		if (at >= header.p_filesz || size_bytes > header.p_filesz - at ||
		    __builtin_add_overflow(header.p_offset, at, file_offset))
			continue;
		return *file_offset <= INT64_MAX;
	}
	return false;
}

uint64_t probe_place_read(const struct object *object, uint64_t file_offset, uint8_t *code, uint64_t size_bytes)
{
	ssize_t n = pread(object->program.fd, code, size_bytes, file_offset);

	return n > 0 ? n : 0;
}

/* Whether an instruction begins at an address, counted from where another one does. */
static bool is_instruction(const struct object *object, uint64_t begin, uint64_t begin_offset, uint64_t address)
{
	uint64_t before = address - begin, read_bytes;
	uint8_t *code;
	bool is_one;

	if (before > BEFORE_BYTES_MAX)
		return false;
	code = xcalloc(1, before + INSTRUCTION_BYTES_MAX);
	read_bytes = probe_place_read(object, begin_offset, code, before + INSTRUCTION_BYTES_MAX);
	is_one = read_bytes > before && function_has_instruction(code, read_bytes, begin, before);
	free(code);
	return is_one;
}

bool probe_place_find(struct object *object, uint64_t address, uint64_t size_bytes, bool is_own, uint64_t *file_offset)
{
	struct cfi_function function = { .begin = address };
	uint64_t begin_offset;

	if (!find_offset(object->program.elf, address, size_bytes ? size_bytes : 1, file_offset))
		return false;
	/* Functions in assembly can be described part by part. */
	if ((!object_cfi_function(object, address, &function) || size_bytes > function.end - address) && !is_own)
		return false;
	return find_offset(object->program.elf, function.begin, 1, &begin_offset) &&
	       is_instruction(object, function.begin, begin_offset, address);
}
