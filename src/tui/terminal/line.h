/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line as a page makes it, text with changes of colour in between. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/page.h"

/* Walks over a line in pieces of one colour: begin with at, the line, and PAGE_PLAIN. */
struct line_walk {
	const char *at;
	enum page_color color;
};

/* The next piece, not empty; false at the end. */
bool line_next(struct line_walk *walk, const char **bytes, size_t *length);

/* Columns that it takes. */
uint32_t line_columns(const char *line);

/* Cuts it to so many columns. */
void line_cut(struct text *line, uint32_t columns);

/* Without colours, as is searched. */
void line_put_plain(struct text *out, const char *line);
