/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/line.h"

#include <stdlib.h>
#include <string.h>

/* The numbers are those of the view's codes: "\033[31m" and so on, one at a time. */
static enum page_color color_of(long code)
{
	switch (code) {
	case 1:
		return PAGE_BOLD;
	case 2:
		return PAGE_DIM;
	case 31:
		return PAGE_RED;
	case 32:
		return PAGE_GREEN;
	case 33:
		return PAGE_YELLOW;
	case 34:
		return PAGE_BLUE;
	case 35:
		return PAGE_MAGENTA;
	case 36:
		return PAGE_CYAN;
	}
	return PAGE_PLAIN;
}

bool line_next(struct line_walk *walk, const char **bytes, size_t *length)
{
	while (*walk->at == '\033') {
		walk->color = color_of(strtol(walk->at + 2, NULL, 10));
		walk->at += strcspn(walk->at, "m");
		walk->at += *walk->at == 'm';
	}
	*bytes = walk->at;
	*length = strcspn(walk->at, "\033");
	walk->at += *length;
	return *length > 0;
}

uint32_t line_columns(const char *line)
{
	struct text plain = { 0 };
	uint32_t columns;

	line_put_plain(&plain, line);
	columns = text_columns(plain.bytes);
	text_fini(&plain);
	return columns;
}

void line_cut(struct text *line, uint32_t columns)
{
	struct line_walk walk = { line->bytes, PAGE_PLAIN };
	const char *bytes;
	size_t length;

	while (line_next(&walk, &bytes, &length)) {
		for (size_t i = 0; i < length;) {
			size_t wanted, step = text_next(bytes + i, &wanted);

			if (wanted > columns) {
				line->length = bytes + i - line->bytes;
				line->bytes[line->length] = '\0';
				return;
			}
			columns -= wanted;
			i += step;
		}
	}
}

void line_put_plain(struct text *out, const char *line)
{
	struct line_walk walk = { line, PAGE_PLAIN };
	const char *bytes;
	size_t length;

	text_put(out, "");
	while (line_next(&walk, &bytes, &length))
		text_put_bytes(out, bytes, length);
}
