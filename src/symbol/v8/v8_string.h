/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of V8, in the memory of another process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/v8/v8_memory.h"

/*
 * The string at a word, as UTF-8 that ends with a NUL; cut if too long. Where there is an object of another kind, or an
 * integer, text is empty. False: it cannot be read.
 */
bool v8_string_read(const struct v8_memory *memory, uint64_t string, char *text, size_t capacity);

/* How many lines end before a position in the string at a word. False: that cannot be found out, or takes too long. */
bool v8_string_count_lines(const struct v8_memory *memory, uint64_t string, uint32_t position, uint32_t *count);
