/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text in columns: knows how wide the page is, where on the line we are, and what
 * the terminal can show. The caller owns the struct; page_fini() ends it. All that a program
 * chose goes through page_put_name() and the like.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct view_style;

enum page_color {
	PAGE_PLAIN,
	PAGE_BOLD,
	PAGE_DIM,
	PAGE_RED,
	PAGE_YELLOW,
	PAGE_GREEN,
	PAGE_CYAN,
	PAGE_BLUE,
	PAGE_MAGENTA,
};

struct page {
	struct text *out;
	const struct view_style *style;
	uint32_t width, column;
	enum page_color color, shown_color; /* wanted, and what the terminal has */
	struct text scratch;
};

void page_init(struct page *page, const struct view_style *style, struct text *out);
void page_fini(struct page *page);

/* Holds until the next call or the end of the line. */
void page_color(struct page *page, enum page_color color);

/* Trusted text: literals, numbers, what was escaped. */
void page_put(struct page *page, const char *string);
void page_printf(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_put_ellipsis(struct page *page);
const char *page_ellipsis(const struct page *page);

/* Spaces up to a column; one when the line is beyond it. */
void page_pad_to(struct page *page, uint32_t column);

/* Ends the line, with no spaces at its end. */
void page_end_line(struct page *page);

/* Bytes that the first so many columns of string take. */
size_t page_bytes_of_columns(const char *string, uint32_t columns);

/* Columns left on the line. */
uint32_t page_columns_left(const struct page *page);

/* Escapes a name and cuts it at its end to fit into so many columns. */
void page_put_name(struct page *page, const char *name, uint32_t columns_max);

/* The same for a path, or another object's name: cut in its middle. */
void page_put_path(struct page *page, const char *path, uint32_t columns_max);

/*
 * The same for a function: template arguments go first, then parameters, then the outer
 * scopes, for the end of a long name says most.
 */
void page_put_function(struct page *page, const char *name, uint32_t columns_max);

/* "dir/file.cpp:16", no more of the path than its last two components; cut at its front. */
void page_put_location(struct page *page, const char *file, uint32_t line, uint32_t columns_max);

/* Right-aligned in so many columns, then in one unit; 0: as it comes, as in a sentence. */
void page_put_duration(struct page *page, uint64_t duration_ns, uint32_t columns);
void page_put_estimate(struct page *page, uint64_t duration_ns, uint32_t columns);
void page_put_count(struct page *page, uint64_t count, uint32_t columns);
void page_put_share(struct page *page, double share, uint32_t columns);

/* A title on a line of its own, preceded by an empty line; explanation may be NULL. */
void page_heading(struct page *page, const char *title, const char *explanation);

/*
 * Words in lines, each but the first indented as far as the first one starts. Never breaks
 * after a digit: a number stays with its unit.
 */
void page_paragraph(struct page *page, const char *label, const char *words);

/* For page_paragraph(): what page_put_function() and page_put_location() would put. */
void page_text_function(const struct page *page, struct text *text, const char *name, uint32_t columns_max);
void page_text_location(const struct page *page, struct text *text, const char *file, uint32_t line);
void page_text_name(const struct page *page, struct text *text, const char *name);
void page_text_share(struct text *text, double share);
