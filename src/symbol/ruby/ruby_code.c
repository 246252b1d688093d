/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/ruby/ruby_code.h"

#include <string.h>

#include "base/table.h"
#include "ruby_format.h"
#include "symbol/ruby/ruby_class.h"

enum {
	/* Of a method's entry, and of its definition, in words. */
	ENTRY_DEFINITION = 2,
	ENTRY_OWNER = 4,
	ENTRY_WORDS = 5,
	DEFINITION_KIND = 0,
	DEFINITION_CODE = 1,
	DEFINITION_WORDS = 2,
	DEFINITION_KIND_MASK = 0xf, /* 0: it is written in Ruby */

	SEQUENCE_BODY = 2,
	SEQUENCE_WORDS = 3,

	/* Of an instruction sequence's body, in bytes. */
	BODY_UNIT_COUNT = 4,
	BODY_UNITS = 8,
	BODY_PATH = 64,
	BODY_NAME = 80,
	BODY_FIRST_LINE = 88,
	BODY_BYTES = 160,
	LINES_COUNT = 16,
	LINES_POSITIONS = 24,

	/* The path that it was loaded by, and the real one. */
	PATHS_ARE_INSIDE = 1 << 13,
	PATHS_INSIDE = 16,
	PATHS_OUTSIDE = 32,
};

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *bytes, size_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

uint64_t ruby_code_identity(const struct ruby_code_key *key)
{
	uint64_t hash = hash_u64(key->name ^ hash_u64(key->path ^ hash_u64(key->units)));

	return hash_u64(hash ^
			hash_u64(key->lines.unit_count ^ hash_u64(key->lines.first_line ^ hash_u64(key->class))));
}

uint32_t ruby_code_first_index(const struct ruby_code_key *key)
{
	return key->units / sizeof(uint64_t) & STACK_MANAGED_INDEX;
}

/* The instruction sequence of the method, if there is an entry at the address. */
static bool find_sequence(const struct ruby_memory *memory, uint64_t *address, struct ruby_code_key *key)
{
	uint64_t head, entry[ENTRY_WORDS], definition[DEFINITION_WORDS];

	if (!ruby_read_words(memory, *address, &head, 1))
		return false;
	if ((head & RUBY_OBJECT_MASK) != RUBY_OBJECT_METHOD)
		return true;
	if (!ruby_read_words(memory, *address, entry, ENTRY_WORDS) ||
	    !ruby_read_words(memory, entry[ENTRY_DEFINITION], definition, DEFINITION_WORDS) ||
	    definition[DEFINITION_KIND] & DEFINITION_KIND_MASK)
		return false;
	key->class = entry[ENTRY_OWNER];
	*address = definition[DEFINITION_CODE];
	return true;
}

bool ruby_code_read_key(const struct ruby_memory *memory, uint64_t address, uint32_t index, struct ruby_code_key *key)
{
	uint8_t body[BODY_BYTES];
	uint64_t sequence[SEQUENCE_WORDS];
	const uint8_t *lines = body + memory->version->lines;

	*key = (struct ruby_code_key){ 0 };
	if (!find_sequence(memory, &address, key) || !ruby_read_words(memory, address, sequence, SEQUENCE_WORDS) ||
	    (sequence[0] & RUBY_OBJECT_MASK) != RUBY_OBJECT_CODE ||
	    !ruby_read(memory, sequence[SEQUENCE_BODY], body, sizeof(body)))
		return false;
	key->units = word_at(body, BODY_UNITS);
	key->path = word_at(body, BODY_PATH);
	key->name = word_at(body, BODY_NAME);
	key->lines = (struct ruby_lines){
		.lines = word_at(lines, 0),
		.positions = word_at(lines, LINES_POSITIONS),
		.line_count = half_at(lines, LINES_COUNT),
		.unit_count = half_at(body, BODY_UNIT_COUNT),
		.first_line = half_at(body, BODY_FIRST_LINE) >> memory->version->has_fixnum_line,
	};
	return ((index - ruby_code_first_index(key)) & STACK_MANAGED_INDEX) <= key->lines.unit_count;
}

static void read_path(const struct ruby_memory *memory, uint64_t address, char *text, size_t capacity)
{
	uint64_t head, paths = address + PATHS_INSIDE, first;

	text[0] = '\0';
	if (!ruby_read_words(memory, address, &head, 1))
		return;
	if (ruby_kind_of(head) != RUBY_ARRAY) {
		ruby_read_string(memory, address, text, capacity);
		return;
	}
	if (!(head & PATHS_ARE_INSIDE) && !ruby_read_words(memory, address + PATHS_OUTSIDE, &paths, 1))
		return;
	if (ruby_read_words(memory, paths, &first, 1))
		ruby_read_string(memory, first, text, capacity);
}

bool ruby_code_read(const struct ruby_memory *memory, const struct ruby_code_key *key, struct ruby_code *code)
{
	bool is_singleton;
	size_t length = 0;

	code->table_bytes = 0;
	if (key->class && ruby_class_read(memory, key->class, code->name, &is_singleton)) {
		length = strlen(code->name);
		code->name[length++] = is_singleton ? '.' : '#';
	}
	if (!ruby_read_string(memory, key->name, code->name + length, sizeof(code->name) - length))
		return false;
	read_path(memory, key->path, code->file, sizeof(code->file));
	code->table_bytes = ruby_lines_read(memory, &key->lines, code->table, sizeof(code->table));
	return true;
}
