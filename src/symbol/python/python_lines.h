/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The location table of a code object of CPython 3.11 and later. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The line of the instruction at an index, in units of code; 0 when the table gives it none or does
 * not reach so far. first_line: of the code object.
 */
uint32_t python_line_find(const void *table, size_t size_bytes, uint32_t first_line, uint32_t index);
