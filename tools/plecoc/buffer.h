/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing string of bytes. It always ends with a NUL that size does not count, so an initialised
 * buffer can be printed; the zero value is an empty buffer. Out of memory ends the program.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct buffer {
	char *data; /* NULL while nothing was added */
	size_t size, capacity;
};

void *xrealloc(void *memory, size_t size);
char *xstrndup(const char *text, size_t size);

void buffer_fini(struct buffer *buffer);

/* Empties the buffer and keeps its memory. */
void buffer_clear(struct buffer *buffer);
void buffer_add(struct buffer *buffer, const char *bytes, size_t size);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_add_text(struct buffer *buffer, const char *text);

/* ASCII only and blind to the locale: what is compared is C identifiers. */
void buffer_add_upper(struct buffer *buffer, const char *text);
void buffer_add_lower(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
