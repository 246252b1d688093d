/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024, PINCH_FAILED = 125 };

__attribute__((noreturn)) static void stop(size_t count, size_t size_bytes)
{
	fprintf(stderr, "pinch: out of memory: cannot allocate %zu bytes\n", count * size_bytes);
	exit(PINCH_FAILED);
}

void *xcalloc(size_t count, size_t size_bytes)
{
	void *memory = calloc(count ? count : 1, size_bytes ? size_bytes : 1);

	if (!memory)
		stop(count, size_bytes);
	return memory;
}

void *xrealloc(void *memory, size_t count, size_t size_bytes)
{
	memory = reallocarray(memory, count, size_bytes);
	if (!memory && count && size_bytes)
		stop(count, size_bytes);
	return memory;
}

char *xstrdup(const char *string)
{
	char *copy = strdup(string);

	if (!copy)
		stop(1, strlen(string) + 1);
	return copy;
}

struct arena_block {
	struct arena_block *next;
	size_t used_bytes, size_bytes;
	_Alignas(16) char bytes[];
};

struct arena {
	struct arena_block *blocks; /* the first one is being filled */
};

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	free(arena);
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	struct arena_block *block = arena->blocks;
	void *memory;

	size_bytes = (size_bytes + 15) & ~(size_t)15;
	if (!block || block->size_bytes - block->used_bytes < size_bytes) {
		size_t capacity = size_bytes > ARENA_BLOCK_BYTES ? size_bytes : ARENA_BLOCK_BYTES;

		block = xcalloc(1, sizeof(*block) + capacity);
		block->size_bytes = capacity;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	memory = block->bytes + block->used_bytes;
	block->used_bytes += size_bytes;
	return memory;
}

char *arena_strdup(struct arena *arena, const char *string)
{
	size_t size_bytes = strlen(string) + 1;

	return memcpy(arena_alloc(arena, size_bytes), string, size_bytes);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args, again;
	char *string;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	string = arena_alloc(arena, length + 1);
	vsnprintf(string, length + 1, format, again);
	va_end(again);
	va_end(args);
	return string;
}
