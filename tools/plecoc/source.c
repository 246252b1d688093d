/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading source files, and pointing into them. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "utf8.h"

enum {
	SIZE_BYTES_MAX = 64 << 20, /* far above 65535 subsystems of some events each */
	SHOWN_COUNT_MAX = 160,     /* characters of a source line in an error message */
	SHOWN_BEFORE = 100,        /* of which before the caret, when the line is longer */
};

static int read_all(int fd, struct buffer *text)
{
	char chunk[65536];
	ssize_t count;

	for (;;) {
		count = read(fd, chunk, sizeof(chunk));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			return 0;
		if (text->size + count > SIZE_BYTES_MAX)
			return -EFBIG;
		buffer_add(text, chunk, count);
	}
}

int source_read(struct source *source, const char *path, struct buffer *messages)
{
	int err = 0, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err = -errno;
		buffer_printf(messages, "plecoc: cannot open %s: %s\n", path, strerror(-err));
		return err;
	}
	*source = (struct source){ .path = path };
	err = read_all(fd, &source->text);
	close(fd);
	if (err)
		buffer_printf(messages, "plecoc: cannot read %s: %s\n", path, strerror(-err));
	else
		err = source_check(source, messages);
	if (err)
		source_fini(source);
	return err;
}

void source_fini(struct source *source)
{
	buffer_fini(&source->text);
}

int source_check(const struct source *source, struct buffer *messages)
{
	const struct buffer *text = &source->text;
	size_t at = 0;

	while (at < text->size) {
		uint32_t c = 0;
		size_t length = utf8_decode(text->data + at, text->size - at, &c);

		if (!length)
			return source_error(source, at, messages, "invalid UTF-8");
		if (!c)
			return source_error(source, at, messages, "NUL byte");
		if (c == 0xfeff && !at)
			return source_error(source, at, messages, "byte order mark: save the file without one");
		at += length;
	}
	return 0;
}

static bool is_first_of_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

void source_locate(const struct source *source, size_t offset, size_t *line, size_t *column)
{
	size_t at;

	*line = *column = 1;
	for (at = 0; at < offset; at++) {
		if (source->text.data[at] == '\n') {
			++*line;
			*column = 1;
		} else if (is_first_of_character(source->text.data[at])) {
			++*column;
		}
	}
}

/* Shows the part of a line that is around the caret: a generated file may be one endless line. */
static void add_line_and_caret(const struct source *source, size_t offset, size_t column, struct buffer *messages)
{
	const char *text = source->text.data;
	size_t begin = offset, end = offset, size = source->text.size;

	if (column > SHOWN_COUNT_MAX)
		column = SHOWN_BEFORE + 1;
	while (column > 1) {
		begin--;
		column -= is_first_of_character(text[begin]);
	}
	while (end < size && text[end] != '\n')
		end++;
	if (end > offset && text[end - 1] == '\r')
		end--;

	utf8_add_visible(messages, text + begin, end - begin, SHOWN_COUNT_MAX);
	buffer_add_char(messages, '\n');
	for (; begin < offset; begin++)
		if (is_first_of_character(text[begin]))
			buffer_add_char(messages, text[begin] == '\t' ? '\t' : ' ');
	buffer_add_text(messages, "^\n");
}

int source_error(const struct source *source, size_t offset, struct buffer *messages, const char *format, ...)
{
	size_t line, column;
	va_list arguments;

	source_locate(source, offset, &line, &column);
	buffer_printf(messages, "%s:%zu:%zu: error: ", source->path, line, column);
	va_start(arguments, format);
	buffer_vprintf(messages, format, arguments);
	va_end(arguments);
	buffer_add_char(messages, '\n');
	add_line_and_caret(source, offset, column, messages);
	return -EINVAL;
}
