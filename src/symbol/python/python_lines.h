/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The location table of a code object of CPython 3.11 and later; other languages' code gets one like it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The line of the instruction at an index, in units of code; 0 when the table gives it none or does
 * not reach so far. first_line: of the code object.
 */
uint32_t python_line_find(const void *table, size_t size_bytes, uint32_t first_line, uint32_t index);

/* Makes such a table. The caller sets the first three members. */
struct python_lines_writer {
	uint8_t *table;
	size_t capacity;
	uint32_t line; /* of the code object; then, of what was written */
	size_t size_bytes;
	uint32_t next_line, unit_count; /* of units that are to be written */
	bool is_full;
};

/* The line of the next unit, 0: none. */
void python_lines_put(struct python_lines_writer *writer, uint32_t line);

/* The bytes of the table; 0: it would have more than capacity. */
size_t python_lines_end(struct python_lines_writer *writer);
