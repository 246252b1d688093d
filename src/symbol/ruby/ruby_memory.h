/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of Ruby's in the memory of another process, which may hold anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/ruby/ruby_layout.h"

struct ruby_memory {
	/* All of it or nothing; false when it cannot be read. */
	bool (*read)(void *data, uint64_t address, void *bytes, size_t size_bytes);
	void *data;
	const struct ruby_version *version;
};

/* The kinds of objects that are read, as the first word of each has them; those of the interpreter's own too. */
enum ruby_kind {
	RUBY_CLASS = 0x02,
	RUBY_MODULE = 0x03,
	RUBY_STRING = 0x05,
	RUBY_ARRAY = 0x07,
	RUBY_INCLUDED = 0x1c, /* a module as a class includes it */
};

static inline enum ruby_kind ruby_kind_of(uint64_t head)
{
	return (enum ruby_kind)(head & 0x1f);
}

bool ruby_read(const struct ruby_memory *memory, uint64_t address, void *bytes, size_t size_bytes);

/* So many words, 1 or more. */
bool ruby_read_words(const struct ruby_memory *memory, uint64_t address, uint64_t *words, size_t count);

/*
 * A String's text up to a NUL, cut between characters of UTF-8 where there is no space for more. False when it is none,
 * or empty: text is "" then.
 */
bool ruby_read_string(const struct ruby_memory *memory, uint64_t address, char *text, size_t capacity);
