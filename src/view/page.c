/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view/view.h"

static const char *const color_codes[] = {
	[PAGE_PLAIN] = "\033[0m", [PAGE_BOLD] = "\033[1m",    [PAGE_DIM] = "\033[2m",
	[PAGE_RED] = "\033[31m",  [PAGE_YELLOW] = "\033[33m", [PAGE_GREEN] = "\033[32m",
	[PAGE_CYAN] = "\033[36m", [PAGE_BLUE] = "\033[34m",   [PAGE_MAGENTA] = "\033[35m",
};

void page_init(struct page *page, const struct view_style *style, struct text *out)
{
	uint32_t width = style->width ? style->width : VIEW_WIDTH_DEFAULT;

	if (width < VIEW_WIDTH_MIN)
		width = VIEW_WIDTH_MIN;
	if (width > VIEW_WIDTH_MAX)
		width = VIEW_WIDTH_MAX;
	*page = (struct page){ .out = out, .style = style, .width = width };
}

void page_fini(struct page *page)
{
	text_fini(&page->scratch);
}

void page_color(struct page *page, enum page_color color)
{
	page->color = color;
}

/* Gives the terminal of the colour: as late as this, so that spaces at an end can go. */
static void show_color(struct page *page)
{
	if (!page->style->has_color || page->color == page->shown_color)
		return;
	if (page->shown_color != PAGE_PLAIN)
		text_put(page->out, color_codes[PAGE_PLAIN]);
	if (page->color != PAGE_PLAIN)
		text_put(page->out, color_codes[page->color]);
	page->shown_color = page->color;
}

void page_put(struct page *page, const char *string)
{
	if (string[strspn(string, " ")])
		show_color(page);
	text_put(page->out, string);
	page->column += text_columns(string);
}

void page_printf(struct page *page, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	page_put(page, line);
}

const char *page_ellipsis(const struct page *page)
{
	return page->style->has_unicode ? "…" : "...";
}

void page_put_ellipsis(struct page *page)
{
	page_put(page, page_ellipsis(page));
}

void page_pad_to(struct page *page, uint32_t column)
{
	if (page->column > column)
		column = page->column + 1;
	while (page->column < column)
		page_put(page, " ");
}

void page_end_line(struct page *page)
{
	struct text *out = page->out;

	while (page->column && out->length && out->bytes[out->length - 1] == ' ')
		out->bytes[--out->length] = '\0';
	page->color = PAGE_PLAIN;
	show_color(page);
	text_put(out, "\n");
	page->column = 0;
}

uint32_t page_columns_left(const struct page *page)
{
	return page->column < page->width ? page->width - page->column : 0;
}

static void put_right(struct page *page, uint32_t columns)
{
	uint32_t used = text_columns(page->scratch.bytes);

	/* What is too wide moves the line rather than touch its neighbour. */
	if (used >= columns && columns && page->column)
		page_put(page, " ");
	for (; used < columns; used++)
		page_put(page, " ");
	page_put(page, page->scratch.bytes);
}

/* One unit with three digits, where text_put_duration() has two: "3 min 5 s". */
static void put_long_duration(struct text *text, uint64_t duration_ns)
{
	double minutes = duration_ns / 60e9, hours = minutes / 60;
	double value = minutes < 99.95 ? minutes : hours;

	text_printf(text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, minutes < 99.95 ? "min" : "h");
}

static void scratch_put_duration(struct page *page, uint64_t duration_ns, uint32_t columns)
{
	if (columns && duration_ns >= 100000000000)
		put_long_duration(&page->scratch, duration_ns);
	else
		text_put_duration(&page->scratch, duration_ns);
}

void page_put_duration(struct page *page, uint64_t duration_ns, uint32_t columns)
{
	page->scratch.length = 0;
	scratch_put_duration(page, duration_ns, columns);
	put_right(page, columns);
}

/* "~2.99 s" */
void page_put_estimate(struct page *page, uint64_t duration_ns, uint32_t columns)
{
	page->scratch.length = 0;
	text_put(&page->scratch, "~");
	scratch_put_duration(page, duration_ns, columns);
	put_right(page, columns);
}

void page_put_count(struct page *page, uint64_t count, uint32_t columns)
{
	page->scratch.length = 0;
	text_put_count(&page->scratch, count);
	put_right(page, columns);
}

/* What is not a number, or is beyond all reason, still takes no more room than its column. */
static double tame_share(double share)
{
	return share >= 0 && share < 100 ? share : share >= 100 ? 99.99 : 0;
}

void page_put_share(struct page *page, double share, uint32_t columns)
{
	page->scratch.length = 0;
	text_printf(&page->scratch, "%.1f %%", 100 * tame_share(share));
	put_right(page, columns);
}

void page_text_share(struct text *text, double share)
{
	double percent = 100 * tame_share(share);

	if (percent > 0 && percent < 0.1)
		text_put(text, "less than 0.1 %");
	else
		text_printf(text, "%.*f %%", percent > 0 && percent < 9.95, percent);
}

void page_heading(struct page *page, const char *title, const char *explanation)
{
	page_end_line(page);
	page_color(page, PAGE_BOLD);
	page_put(page, title);
	if (explanation && page->column + 4 + strlen(explanation) <= page->width) {
		page_color(page, PAGE_DIM);
		page_printf(page, "  (%s)", explanation);
	}
	page_end_line(page);
}

/* The end of the piece of words, not empty, that begins here and must not be broken. */
static const char *piece_end(const char *piece)
{
	do
		piece++;
	while (*piece && (*piece != ' ' || isdigit((unsigned char)piece[-1])));
	return piece;
}

void page_paragraph(struct page *page, const char *label, const char *words)
{
	enum page_color color = page->color;
	uint32_t indent;

	page_put(page, label);
	indent = page->column;
	words += strspn(words, " ");
	while (*words) {
		const char *end = piece_end(words);
		size_t length = end - words;
		uint32_t columns = 0;

		for (size_t i = 0, wanted; i < length; columns += wanted)
			i += text_next(words + i, &wanted);
		if (page->column > indent && page->column + 1 + columns > page->width) {
			page_end_line(page);
			page_color(page, color);
			page_pad_to(page, indent);
		} else if (page->column > indent) {
			page_put(page, " ");
		}
		if (columns > page_columns_left(page)) { /* a hostile name: break it where we must */
			length = page_bytes_of_columns(words, page_columns_left(page));
			end = words + length;
			columns = page_columns_left(page);
		}
		show_color(page);
		text_put_bytes(page->out, words, length);
		page->column += columns;
		words = end + strspn(end, " ");
	}
	page_end_line(page);
}
