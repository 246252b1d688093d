/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a location table, and the memory in which a code object lies. */
#include <stdlib.h>
#include <string.h>

#include "symbol/python/python_code.h"
#include "symbol/python/python_lines.h"

enum { HEAD_BYTES = 8 };

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

static void check_code(struct bytes memory, uint32_t number)
{
	static struct python_code code;
	const struct python_version *version = python_version_find(number);
	struct memory_reader reader = { read_bytes, &memory };
	struct python_code_key key;

	if (!python_code_read_key(&reader, &version->code, memory_begin, &key) ||
	    !python_code_read(&reader, &version->code, &key, &code))
		return;
	if (!code.name[0] || !memchr(code.name, 0, sizeof(code.name)) || !memchr(code.file, 0, sizeof(code.file)) ||
	    code.table_bytes > sizeof(code.table))
		abort();
	for (uint32_t i = 0; i < 100; i++)
		python_line_find(code.table, code.table_bytes, key.first_line, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	uint32_t lines[2];
	uint8_t *copy;

	if (size_bytes < HEAD_BYTES)
		return 0;
	memcpy(lines, bytes, sizeof(lines));
	for (uint32_t number = 0x030b; number <= 0x030d; number++)
		check_code((struct bytes){ bytes + HEAD_BYTES, size_bytes - HEAD_BYTES }, number);
	size_bytes -= HEAD_BYTES;
	copy = malloc(size_bytes + !size_bytes);
	memcpy(copy, bytes + HEAD_BYTES, size_bytes);
	for (uint32_t i = 0; i < 1000; i++)
		python_line_find(copy, size_bytes, lines[0], i);
	python_line_find(copy, size_bytes, lines[0], lines[1]);
	free(copy);
	return 0;
}
