/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views: ways to show a report. They compute nothing about findings; they choose words,
 * columns and order. What is borrowed in a style outlives the call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fold_rules;
struct report;
struct text;

enum { VIEW_WIDTH_DEFAULT = 100, VIEW_WIDTH_MIN = 60, VIEW_WIDTH_MAX = 500 };
enum { VIEW_FULL_PATHS_DEFAULT = 3 };

struct view_style {
	uint32_t width;		/* columns; 0: the default */
	uint32_t full_paths;	/* so many paths with stack and samples, the others in one line */
	bool is_verbose;	/* every path in full, every thread, every frame */
	bool has_color, has_unicode;
	const struct fold_rules *fold;	/* borrowed; NULL: no frame is folded */
};

struct view {
	const char *name, *summary;
	void (*show)(const struct report *report, const struct view_style *style,
		     struct text *out);
};

extern const struct view text_view, json_view;

/* Ends with NULL. */
extern const struct view *const views[];

const struct view *view_find(const char *name);

/*
 * What suits the file behind descriptor fd and the user's environment: colour on a terminal
 * unless NO_COLOR is set, UTF-8 when the locale says so, the terminal's width.
 */
struct view_style view_style_for(int fd);
