/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing strings, and the allocation that cannot fail beneath them. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *xrealloc(void *memory, size_t size)
{
	void *moved = realloc(memory, size);

	if (!moved) {
		fprintf(stderr, "plecoc: out of memory\n");
		exit(1);
	}
	return moved;
}

char *xstrndup(const char *text, size_t size)
{
	char *copy = xrealloc(NULL, size + 1);

	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

void buffer_fini(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

void buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

/* Makes space for size more bytes and the NUL. */
static void buffer_reserve(struct buffer *buffer, size_t size)
{
	size_t wanted = buffer->size + size + 1;

	if (wanted <= buffer->capacity)
		return;
	buffer->capacity = wanted > 2 * buffer->capacity ? wanted : 2 * buffer->capacity;
	buffer->data = xrealloc(buffer->data, buffer->capacity);
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t size)
{
	buffer_reserve(buffer, size);
	if (size) /* memcpy() may not be given NULL, even for nothing */
		memcpy(buffer->data + buffer->size, bytes, size);
	buffer->size += size;
	buffer->data[buffer->size] = '\0';
}

void buffer_add_char(struct buffer *buffer, char c)
{
	buffer_add(buffer, &c, 1);
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

void buffer_add_upper(struct buffer *buffer, const char *text)
{
	for (; *text; text++)
		buffer_add_char(buffer, *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

void buffer_add_lower(struct buffer *buffer, const char *text)
{
	for (; *text; text++)
		buffer_add_char(buffer, *text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
	va_list again;
	int size;

	va_copy(again, arguments);
	size = vsnprintf(NULL, 0, format, arguments);
	if (size > 0) {
		buffer_reserve(buffer, size);
		vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again);
		buffer->size += size;
	}
	va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
}
