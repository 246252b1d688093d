/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the UI share: ui.c, which keys change, and ui_compose.c, which shows it. */
#pragma once

#include "tui/terminal/prompt.h"
#include "tui/ui.h"

/* Lines besides those of rows: status of the run, tabs, titles; keys and prompts. */
enum { LINES_ABOVE = 3, LINES_BELOW = 1, LINE_TABS = 1 };

enum mode { MODE_NORMAL, MODE_SEARCH, MODE_FILTER, MODE_QUIT };

struct ui {
	struct model *model;
	struct model_options options;
	struct ui_status status;
	uint32_t columns, lines;
	enum mode mode;
	struct prompt prompt;
	char *message; /* NULL: none */
	bool is_paused, wants_quit, wants_redraw, has_changed;
	bool is_searching;
	struct ui_line *composed;
	size_t composed_capacity;
	uint32_t tab_ends[PAGES]; /* columns behind the pages' tabs; 0: it is not shown */
};

bool ui_is_small(const struct ui *ui);

/* Of the tab line as it was composed last; PAGES: there is none. */
enum page_number ui_tab_at(const struct ui *ui, uint32_t column);
