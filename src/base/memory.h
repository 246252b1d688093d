/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is there or the tool stops: no caller checks for NULL. The arena is for
 * things that die together; nothing in it is freed alone.
 *
 * Owns: what C does not bring: memory, tables, text, JSON, clocks, errors; it knows nothing of tracing.
 * Used by: any folder above.
 */
#pragma once

#include <stddef.h>

void *xcalloc(size_t count, size_t size_bytes) __attribute__((returns_nonnull));
void *xrealloc(void *memory, size_t count, size_t size_bytes);
char *xstrdup(const char *string);

/*
 * An array of count elements, with space for so many, gets space for one more: twice as much as before, at first this
 * much. list, count and capacity are evaluated several times.
 */
#define ARRAY_GROW(list, count, capacity, first)                                \
	do {                                                                    \
		if ((count) == (capacity)) {                                    \
			(capacity) = (capacity) ? 2 * (capacity) : (first);     \
			(list) = xrealloc((list), (capacity), sizeof(*(list))); \
		}                                                               \
	} while (0)

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* Zeroed, aligned to 16 bytes, valid until arena_free(). */
void *arena_alloc(struct arena *arena, size_t size_bytes);

char *arena_strdup(struct arena *arena, const char *string);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
