/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime.forEachGRace begins with atomicAllG(), which reads how long the list is and then where it is, each by an
 * instruction of its own. runtime.waitReason.String compares the number of a reason with how many there are and takes
 * the address of their table. (Go's src/runtime/proc.go, runtime2.go)
 */
#include "symbol/go/go_stripped.h"

#include <string.h>

#include "base/byte_cursor.h"
#include "symbol/elf/elf_file.h"
#include "symbol/elf/go_table.h"
#include "symbol/go/goroutine_format.h"

enum {
	CODE_BYTES_MAX_READ = 128, /* of a function */
	STRING_BYTES = 16,
	VERSION_AT = 32, /* in .go.buildinfo, from Go 1.18 on */
	FLAGS_AT = 15,
	FLAG_IS_INLINE = 2, /* the version stands there itself */
};

struct code {
	uint8_t bytes[CODE_BYTES_MAX_READ];
	size_t size_bytes;
	uint64_t address;
};

static bool read_code(Elf *program, const struct go_table *table, const char *function, struct code *code)
{
	uint64_t end, offset;
	Elf_Data *data;

	if (!go_table_function(table, function, &code->address, &end) ||
	    !elf_offset_at(program, code->address, &offset))
		return false;
	code->size_bytes = end - code->address < sizeof(code->bytes) ? end - code->address : sizeof(code->bytes);
	data = elf_getdata_rawchunk(program, offset, code->size_bytes, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size < code->size_bytes)
		return false;
	memcpy(code->bytes, data->d_buf, code->size_bytes);
	return true;
}

/*
 * The next instruction from *at on that refers to memory by its distance from the instruction, with a 64-bit register
 * and this operation: where to.
 */
static bool find_reference(const struct code *code, uint8_t operation, size_t *at, uint64_t *address)
{
	for (; *at + 7 <= code->size_bytes; ++*at) {
		const uint8_t *bytes = code->bytes + *at;
		int32_t distance;

		if ((bytes[0] & 0xfb) != 0x48 || bytes[1] != operation || (bytes[2] & 0xc7) != 0x05)
			continue;
		memcpy(&distance, bytes + 3, sizeof(distance));
		*at += 7;
		*address = code->address + *at + distance;
		return true;
	}
	return false;
}

bool go_stripped_find_list(Elf *program, const struct go_table *table, struct go_layout *layout)
{
	struct code code;
	size_t at = 0;

	return table && read_code(program, table, "runtime.forEachGRace", &code) &&
	       find_reference(&code, 0x8b, &at, &layout->list_count) &&
	       find_reference(&code, 0x8b, &at, &layout->list) && layout->list != layout->list_count;
}

bool go_stripped_find_reasons(Elf *program, const struct go_table *table, uint64_t *address, uint64_t *size_bytes)
{
	struct code code;
	size_t at = 0, count;

	if (!table || !read_code(program, table, "runtime.waitReason.String", &code) || code.size_bytes < 2 ||
	    code.bytes[0] != 0x3c) /* cmp al, how many */
		return false;
	count = code.bytes[1];
	*size_bytes = count * STRING_BYTES;
	/* The first reference is to what a number without a name is called. */
	return count <= GO_REASONS_MAX && find_reference(&code, 0x8d, &at, address) &&
	       find_reference(&code, 0x8d, &at, address);
}

/* "go1.19.8"; false: it does not stand there. */
static bool read_version(Elf *program, char *version, size_t size_bytes)
{
	Elf_Scn *scn = elf_find_section(program, ".go.buildinfo", NULL);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	struct byte_cursor cursor;
	uint64_t length;

	if (!data || !data->d_buf || data->d_size <= VERSION_AT || memcmp(data->d_buf, "\xff Go buildinf:", 14) != 0 ||
	    !(((const uint8_t *)data->d_buf)[FLAGS_AT] & FLAG_IS_INLINE))
		return false;
	cursor = byte_cursor_new(data->d_buf, data->d_size);
	byte_cursor_skip(&cursor, VERSION_AT);
	length = byte_cursor_uleb(&cursor);
	if (cursor.is_bad || length >= size_bytes || length > byte_cursor_left(&cursor))
		return false;
	memcpy(version, cursor.at, length);
	version[length] = '\0';
	return true;
}

/* "go1.19" is a version of "go1.19.8" and "go1.19", not of "go1.190". */
static bool is_of(const char *version, const char *release)
{
	size_t length = strlen(release);

	return !strncmp(version, release, length) && (!version[length] || version[length] == '.');
}

/* As the debug information of programs that these were built with has them. */
static const struct known {
	const char *release;
	uint16_t stack_low, stack_high, saved_sp, saved_pc, status, reason, number, creator;
} known[] = {
	{ "go1.19", 0, 8, 56, 64, 144, 176, 152, 296 },
};

bool go_stripped_offsets(Elf *program, struct go_layout *layout)
{
	char version[64];

	if (!read_version(program, version, sizeof(version)))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *k = &known[i];

		if (!is_of(version, k->release))
			continue;
		layout->stack_low = k->stack_low;
		layout->stack_high = k->stack_high;
		layout->saved_sp = k->saved_sp;
		layout->saved_pc = k->saved_pc;
		layout->status = k->status;
		layout->reason = k->reason;
		layout->number = k->number;
		layout->creator = k->creator;
		return true;
	}
	return false;
}
