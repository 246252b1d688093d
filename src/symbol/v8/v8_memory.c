/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/v8/v8_memory.h"

#include "v8_format.h"

/* Without compressed pointers an integer is the upper half of a word whose lower one is 0. */
enum { INTEGER_SHIFT = 32 };

bool v8_integer(uint64_t word, int32_t *integer)
{
	*integer = (int32_t)(word >> INTEGER_SHIFT);
	return !(word & UINT32_MAX);
}

bool v8_read(const struct v8_memory *memory, uint64_t object, uint32_t offset, void *bytes, size_t size_bytes)
{
	return (object & V8_TAG_MASK) == V8_TAG &&
	       memory->reader->read(memory->reader->data, object - V8_TAG + offset, bytes, size_bytes);
}

bool v8_read_word(const struct v8_memory *memory, uint64_t object, uint32_t offset, uint64_t *word)
{
	return v8_read(memory, object, offset, word, sizeof(*word));
}

bool v8_read_type(const struct v8_memory *memory, uint64_t object, uint16_t *type)
{
	uint64_t map;

	if (!v8_read_word(memory, object, memory->heap->object_map, &map))
		return false;
	/* While the garbage collector moves an object, it has its new address there. */
	if (map && !(map & V8_TAG_MASK) && !v8_read_word(memory, map + V8_TAG, memory->heap->object_map, &map))
		return false;
	return v8_read(memory, map, memory->heap->map_type, type, sizeof(*type));
}

bool v8_has_type(const struct v8_memory *memory, uint64_t object, uint16_t type)
{
	uint16_t found;

	return v8_read_type(memory, object, &found) && found == type;
}
