/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of V8's heap: words that point to them, and small integers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/memory_reader.h"
#include "unwind/v8_heap.h"

struct v8_memory {
	const struct memory_reader *reader;
	const struct v8_heap *heap;
};

/* A small integer in a word; false: it is none. */
bool v8_integer(uint64_t word, int32_t *integer);

/* Bytes at an offset in the object that a word points to; false: it does not, or they cannot be read. */
bool v8_read(const struct v8_memory *memory, uint64_t object, uint32_t offset, void *bytes, size_t size_bytes);

/* The same of one word. */
bool v8_read_word(const struct v8_memory *memory, uint64_t object, uint32_t offset, uint64_t *word);

/* What its map says that an object is, or that of where it is being moved to. */
bool v8_read_type(const struct v8_memory *memory, uint64_t object, uint16_t *type);

/* Whether it is of that type. */
bool v8_has_type(const struct v8_memory *memory, uint64_t object, uint16_t type);
