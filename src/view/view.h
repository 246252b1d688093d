/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views: ways to show a report. They compute nothing about findings; they choose words,
 * columns and order. What is borrowed in a style outlives the call.
 *
 * Owns: words, columns and order of a report; what several views share.
 * Used by: view/text, view/json, view/html, tui/terminal, tui/rows, tui, options, show, live, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fold_rules;
struct report;
struct text;

enum { VIEW_WIDTH_DEFAULT = 100, VIEW_WIDTH_MIN = 60, VIEW_WIDTH_MAX = 500 };

struct view_style {
	uint32_t width;  /* columns; 0: the default */
	bool is_verbose; /* all sections, with every path, thread and frame; else what comes first */
	bool has_color, has_unicode;
	uint32_t pages;                /* of the text, by text_pages_parse(); 0: the report as a whole */
	const struct fold_rules *fold; /* borrowed; NULL: no frame is folded */
};

struct view {
	const char *name, *summary;
	void (*show)(const struct report *report, const struct view_style *style, struct text *out);
};

extern const struct view text_view, json_view;

/* Ends with NULL. */
extern const struct view *const views[];

const struct view *view_find(const char *name);

/*
 * Adds the pages of the text view with these names, separated by commas, in large letters or small
 * ones, to those chosen. -EINVAL, with nothing added: there is no such page.
 */
int text_pages_parse(const char *names, uint32_t *chosen);

/* Puts the names of all of them. */
void text_pages_list(struct text *text);

/*
 * What suits the file behind descriptor fd and the user's environment: colour on a terminal
 * unless NO_COLOR is set, UTF-8 when the locale says so, the terminal's width.
 */
struct view_style view_style_for(int fd);
