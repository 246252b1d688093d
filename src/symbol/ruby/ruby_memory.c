/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/ruby/ruby_memory.h"

#include <string.h>

enum {
	ALIGNMENT = 8, /* of objects */
	STRING_WORDS = 4,
	STRING_EMBEDDED_SHIFT = 14, /* its length in the flags, if it lies in the object */
	STRING_EMBEDDED_MASK = 0x1f,
	STRING_IS_OUTSIDE = 1 << 13,
	STRING_TEXT = 16, /* where it lies in the object, without a length before it */
};

bool ruby_read(const struct ruby_memory *memory, uint64_t address, void *bytes, size_t size_bytes)
{
	return memory->read(memory->data, address, bytes, size_bytes);
}

bool ruby_read_words(const struct ruby_memory *memory, uint64_t address, uint64_t *words, size_t count)
{
	return address && address % ALIGNMENT == 0 && ruby_read(memory, address, words, count * sizeof(*words));
}

/* Where its text is, and how long; false: it is no string. */
static bool find_text(const struct ruby_memory *memory, uint64_t address, uint64_t *at, uint64_t *length)
{
	uint64_t words[STRING_WORDS];

	if (!ruby_read_words(memory, address, words, STRING_WORDS) || ruby_kind_of(words[0]) != RUBY_STRING)
		return false;
	*length = words[2];
	*at = address + STRING_TEXT + sizeof(uint64_t);
	if (words[0] & STRING_IS_OUTSIDE) {
		*at = words[3];
	} else if (!memory->version->has_embedded_length) {
		*length = words[0] >> STRING_EMBEDDED_SHIFT & STRING_EMBEDDED_MASK;
		*at = address + STRING_TEXT;
	}
	return true;
}

/* How much of text is left when it is cut at length: no part of a character. */
static size_t cut(const char *text, size_t length)
{
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

bool ruby_read_string(const struct ruby_memory *memory, uint64_t address, char *text, size_t capacity)
{
	uint64_t at, length;

	text[0] = '\0';
	if (!find_text(memory, address, &at, &length) || !length)
		return false;
	if (length < capacity) {
		if (!ruby_read(memory, at, text, length)) {
			text[0] = '\0';
			return false;
		}
		text[length] = '\0';
	} else {
		if (!ruby_read(memory, at, text, capacity)) {
			text[0] = '\0';
			return false;
		}
		text[cut(text, capacity - 1)] = '\0';
	}
	return text[0] != '\0';
}
