/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are the memory in which a method of Ruby's, or a block, lies. */
#include <stdlib.h>
#include <string.h>

#include "symbol/python/python_lines.h"
#include "symbol/ruby/ruby_code.h"
#include "values.h"

enum { UNITS_LOOKED_AT = 1000 };

static const uint64_t memory_begin = 0x7f0000000000;

struct bytes {
	const uint8_t *bytes;
	size_t size_bytes;
};

/* Addresses are taken from the bytes: most of them shall lead into them again. */
static bool read_bytes(void *data, uint64_t address, void *to, size_t size_bytes)
{
	const struct bytes *memory = data;
	uint64_t at = address < 1 << 16 ? address : address - memory_begin;

	if (at > memory->size_bytes || size_bytes > memory->size_bytes - at)
		return false;
	memcpy(to, memory->bytes + at, size_bytes);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static struct ruby_code code;
	struct bytes data = { bytes, size_bytes };

	for (uint32_t number = 0x0300; number <= 0x0303; number++) {
		struct ruby_memory memory = { read_bytes, &data, ruby_version_find(number) };
		struct ruby_code_key key;

		if (!ruby_code_read_key(&memory, memory_begin, 0, &key) || !ruby_code_read(&memory, &key, &code))
			continue;
		if (!code.name[0] || !memchr(code.name, 0, sizeof(code.name)) ||
		    !memchr(code.file, 0, sizeof(code.file)) || code.table_bytes > sizeof(code.table) ||
		    ruby_code_first_index(&key) > STACK_MANAGED_INDEX)
			abort();
		for (uint32_t i = 0; i < UNITS_LOOKED_AT; i++)
			python_line_find(code.table, code.table_bytes, key.lines.first_line, i);
	}
	return 0;
}
