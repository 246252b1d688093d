/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and places on a page: made harmless, then as short as they must be. */
#include "view/page.h"

#include <stdio.h>
#include <string.h>

#include "view/view.h"

size_t page_bytes_of_columns(const char *string, uint32_t columns)
{
	size_t i = 0;

	while (string[i]) {
		size_t wanted, bytes = text_next(string + i, &wanted);

		if (wanted > columns)
			break;
		columns -= wanted;
		i += bytes;
	}
	return i;
}

/* Turns each character that an ASCII terminal lacks into one question mark. */
static void make_ascii(struct text *text, size_t begin)
{
	size_t to = begin;

	for (size_t from = begin; from < text->length; from++) {
		unsigned char c = text->bytes[from];

		if ((c & 0xc0) != 0x80)
			text->bytes[to++] = c < 0x80 ? (char)c : '?';
	}
	text->length = to;
	if (text->bytes)
		text->bytes[to] = '\0';
}

void page_text_name(const struct page *page, struct text *text, const char *name)
{
	size_t begin = text->length;

	text_put(text, ""); /* a string even when the name is empty */
	text_put_escaped(text, name);
	if (!page->style->has_unicode)
		make_ascii(text, begin);
}

static void cut_end(const struct page *page, struct text *text, const char *string, uint32_t columns_max)
{
	uint32_t mark = text_columns(page_ellipsis(page));

	if (text_columns(string) <= columns_max) {
		text_put(text, string);
	} else if (columns_max >= mark) {
		text_put_bytes(text, string, page_bytes_of_columns(string, columns_max - mark));
		text_put(text, page_ellipsis(page));
	}
}

static void cut_front(const struct page *page, struct text *text, const char *string, uint32_t columns_max)
{
	uint32_t mark = text_columns(page_ellipsis(page)), columns = text_columns(string);

	if (columns <= columns_max) {
		text_put(text, string);
	} else if (columns_max >= mark) {
		string += page_bytes_of_columns(string, columns - columns_max + mark);
		while (text_columns(string) > columns_max - mark) { /* half of a wide one */
			size_t wanted;

			string += text_next(string, &wanted);
		}
		text_put(text, page_ellipsis(page));
		text_put(text, string);
	}
}

/* Begins where one looks for a file, and ends with its own name. */
static void cut_middle(const struct page *page, struct text *text, const char *string, uint32_t columns_max)
{
	uint32_t begin_columns = columns_max / 3;

	if (text_columns(string) > columns_max)
		text_put_bytes(text, string, page_bytes_of_columns(string, begin_columns));
	else
		begin_columns = 0;
	cut_front(page, text, string, columns_max - begin_columns);
}

/* How a text that has no space is made shorter. */
typedef void cut_function(const struct page *page, struct text *text, const char *string, uint32_t columns_max);

static void put_cut(struct page *page, cut_function *cut, const char *string, uint32_t columns_max)
{
	struct text text = { 0 };

	text_put(&text, "");
	cut(page, &text, string, columns_max);
	page_put(page, text.bytes);
	text_fini(&text);
}

void page_put_path(struct page *page, const char *path, uint32_t columns_max)
{
	page->scratch.length = 0;
	page_text_name(page, &page->scratch, path);
	put_cut(page, cut_middle, page->scratch.bytes, columns_max);
}

void page_put_name(struct page *page, const char *name, uint32_t columns_max)
{
	page->scratch.length = 0;
	page_text_name(page, &page->scratch, name);
	put_cut(page, cut_end, page->scratch.bytes, columns_max);
}

static bool ends_with(const char *string, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	return length >= end_length && !memcmp(string + length - end_length, end, end_length);
}

/* True when the bracket at name[i] is part of "operator<", "operator->" and their like. */
static bool is_operator(const char *name, size_t i)
{
	while (i && strchr("<>=-", name[i - 1]))
		i--;
	return ends_with(name, i, "operator");
}

/* Empties the outermost template arguments. False, with text as it was, if they are odd. */
static bool collapse_templates(const struct page *page, struct text *text, const char *name)
{
	size_t begin = text->length, depth = 0;

	text_put(text, "");
	for (size_t i = 0; name[i]; i++) {
		bool is_bracket = (name[i] == '<' || name[i] == '>') && !is_operator(name, i) &&
				  !(name[i] == '>' && i && name[i - 1] == '-');

		if (is_bracket && name[i] == '<') {
			if (!depth++) {
				text_put(text, "<");
				text_put(text, page_ellipsis(page));
			}
		} else if (is_bracket && !depth--) {
			text->length = begin;
			return false;
		}
		if (!depth)
			text_put_bytes(text, &name[i], 1);
	}
	if (depth)
		text->length = begin;
	return !depth;
}

/* Empties the last pair of brackets, the parameters, if the name ends with it. */
static void collapse_parameters(const struct page *page, struct text *text, const char *name)
{
	const char *end = strrchr(name, ')'), *begin = end;
	size_t depth = 0;

	while (begin && begin > name) {
		depth += *begin == ')';
		depth -= *begin == '(';
		if (!depth)
			break;
		begin--;
	}
	/* A short rest is "const" or "&&"; a long one is the name itself, after a scope. */
	if (!begin || begin == name || depth || end - begin < 2 || strstr(end, "::")) {
		text_put(text, name);
		return;
	}
	text_put_bytes(text, name, begin - name + 1);
	text_put(text, page_ellipsis(page));
	text_put(text, end);
}

/* Go's names begin with the path of their package, of which the last part is enough. */
static const char *without_path(const char *name)
{
	size_t path_length = strcspn(name, "([ ");

	while (path_length && name[path_length - 1] != '/')
		path_length--;
	return strcspn(name + path_length, "([ ") && strchr(name, '.') ? name + path_length : name;
}

void page_text_function(const struct page *page, struct text *text, const char *name, uint32_t columns_max)
{
	struct text escaped = { 0 }, plain = { 0 }, bare = { 0 };
	const char *best;

	page_text_name(page, &escaped, name);
	best = escaped.bytes;
	if (text_columns(best) > columns_max)
		best = without_path(best);
	if (text_columns(best) > columns_max && collapse_templates(page, &plain, best))
		best = plain.bytes;
	if (text_columns(best) > columns_max) {
		collapse_parameters(page, &bare, best);
		best = bare.bytes;
	}
	if (strstr(best, "::"))
		cut_front(page, text, best, columns_max);
	else
		cut_end(page, text, best, columns_max);
	text_fini(&escaped);
	text_fini(&plain);
	text_fini(&bare);
}

void page_put_function(struct page *page, const char *name, uint32_t columns_max)
{
	page->scratch.length = 0;
	text_put(&page->scratch, "");
	page_text_function(page, &page->scratch, name, columns_max);
	page_put(page, page->scratch.bytes);
}

/* The last two components of a path. */
static const char *short_path(const char *path)
{
	const char *begin = path + strlen(path);
	int slashes = 0;

	while (begin > path && (begin[-1] != '/' || ++slashes < 2))
		begin--;
	return begin;
}

void page_text_location(const struct page *page, struct text *text, const char *file, uint32_t line)
{
	page_text_name(page, text, short_path(file));
	if (line)
		text_printf(text, ":%u", line);
}

void page_put_location(struct page *page, const char *file, uint32_t line, uint32_t columns_max)
{
	page->scratch.length = 0;
	page_text_location(page, &page->scratch, file, line);
	put_cut(page, cut_front, page->scratch.bytes, columns_max);
}
