/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of Ruby's code, as one table for all languages. */
#pragma once

#include "symbol/ruby/ruby_memory.h"

/* Where they are, and of which code. */
struct ruby_lines {
	uint64_t lines, positions; /* addresses */
	uint32_t line_count;
	uint32_t unit_count; /* of code */
	uint32_t first_line;
};

/*
 * Reads the lines of the code and writes them as python_lines.h reads them; returns the bytes, 0 if they cannot be
 * read, or there is no space for all of them.
 */
size_t ruby_lines_read(const struct ruby_memory *memory, const struct ruby_lines *lines, uint8_t *table,
		       size_t capacity);
