/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/python/python_code.h"

#include <string.h>

#include "base/table.h"
#include "base/utf8.h"

enum {
	/* PyVarObject, PyBytesObject, PyASCIIObject: the same in all versions. */
	REFERENCES_OFFSET = 0,
	SIZE_OFFSET = 16,
	BYTES_TEXT_OFFSET = 32,
	STATE_OFFSET = 32,
	STRING_BYTES = 40,
	/* The string's state. */
	KIND_SHIFT = 2,
	KIND_MASK = 7,
	IS_COMPACT = 1 << 5,
	IS_ASCII = 1 << 6,

	UNITS_MAX = MANAGED_PATH_BYTES,
	/* A byte of a file name that was not UTF-8 stands in a string as one of these. */
	ESCAPED_BYTE_FIRST = 0xdc80,
	ESCAPED_BYTE_LAST = 0xdcff,
};

static bool read_at(const struct memory_reader *memory, uint64_t address, void *bytes, size_t size_bytes)
{
	return memory->read(memory->data, address, bytes, size_bytes);
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Whether something still refers to an object. Allocators write the address of another free block where the count was. */
static bool is_alive(const uint8_t *object)
{
	uint64_t references = word_at(object, REFERENCES_OFFSET);

	return references && references <= UINT32_MAX;
}

uint64_t python_code_identity(const struct python_code_key *key)
{
	uint64_t hash = hash_u64(key->name ^ hash_u64(key->file ^ hash_u64(key->table)));

	return hash_u64(hash ^ hash_u64(key->unit_count ^ hash_u64(key->first_line)));
}

bool python_code_read_key(const struct memory_reader *memory, const struct python_code_layout *layout, uint64_t address,
			  struct python_code_key *key)
{
	uint8_t bytes[UINT8_MAX];

	if (!read_at(memory, address, bytes, layout->bytes) || !is_alive(bytes))
		return false;
	*key = (struct python_code_key){
		.name = word_at(bytes, layout->qualified_name),
		.file = word_at(bytes, layout->file_name),
		.table = word_at(bytes, layout->line_table),
		.unit_count = word_at(bytes, SIZE_OFFSET),
		.first_line = (uint32_t)word_at(bytes, layout->first_line),
	};
	return true;
}

/* Appends a character; false when there is no space for it. */
static bool put_character(uint32_t character, char *text, size_t capacity, size_t *length)
{
	uint8_t bytes[UTF8_BYTES_MAX];
	size_t count = 1;

	if (character >= ESCAPED_BYTE_FIRST && character <= ESCAPED_BYTE_LAST)
		bytes[0] = character - ESCAPED_BYTE_FIRST + 0x80;
	else
		count = utf8_put(character, bytes);
	if (*length + count >= capacity)
		return false;
	memcpy(text + *length, bytes, count);
	*length += count;
	return true;
}

static uint32_t unit_at(const uint8_t *units, size_t i, size_t unit_bytes)
{
	uint32_t unit = 0;

	memcpy(&unit, units + i * unit_bytes, unit_bytes);
	return unit;
}

/* A str object. Leaves text empty on failure. */
static bool read_string(const struct memory_reader *memory, const struct python_code_layout *layout, uint64_t address,
			char *text, size_t capacity)
{
	static uint8_t units[UNITS_MAX * sizeof(uint32_t)]; /* there is one thread */
	uint8_t object[STRING_BYTES];
	uint64_t count;
	uint32_t state;
	size_t unit_bytes, length = 0;

	text[0] = '\0';
	if (!read_at(memory, address, object, sizeof(object)))
		return false;
	count = word_at(object, SIZE_OFFSET);
	state = (uint32_t)word_at(object, STATE_OFFSET);
	unit_bytes = state >> KIND_SHIFT & KIND_MASK;
	if (!(state & IS_COMPACT) || (unit_bytes != 1 && unit_bytes != 2 && unit_bytes != 4))
		return false;
	if (count >= capacity)
		count = capacity - 1;
	if (!read_at(memory, address + (state & IS_ASCII ? layout->ascii_text : layout->text), units,
		     count * unit_bytes))
		return false;
	/* A NUL would end it. */
	for (size_t i = 0; i < count; i++) {
		uint32_t unit = unit_at(units, i, unit_bytes);

		if (!unit || !put_character(unit, text, capacity, &length))
			break;
	}
	text[length] = '\0';
	return length > 0;
}

bool python_code_read(const struct memory_reader *memory, const struct python_code_layout *layout,
		      const struct python_code_key *key, struct python_code *code)
{
	uint8_t object[BYTES_TEXT_OFFSET];

	code->table_bytes = 0;
	if (!read_string(memory, layout, key->name, code->name, sizeof(code->name)))
		return false;
	read_string(memory, layout, key->file, code->file, sizeof(code->file));
	if (read_at(memory, key->table, object, sizeof(object)) && is_alive(object) &&
	    word_at(object, SIZE_OFFSET) <= sizeof(code->table) &&
	    read_at(memory, key->table + BYTES_TEXT_OFFSET, code->table, word_at(object, SIZE_OFFSET)))
		code->table_bytes = word_at(object, SIZE_OFFSET);
	return true;
}
