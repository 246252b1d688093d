/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of the terminal UI as its own files see it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model.h"
#include "tui/rows/rows.h"

enum { HELP = PAGES, STATES = PAGES + 1 };

struct page_state {
	struct unfolded *unfolded;
	size_t sort;
	bool is_reversed;
	size_t cursor, top;
	uint64_t cursor_key; /* of the row that the cursor is on */
	bool is_at_end;      /* it is the last one */
};

struct search {
	char *pattern; /* NULL: none yet */
	enum search_state state;
	bool is_backwards;
	size_t at, left; /* the next row, and how many there are to look at */
};

struct model {
	struct model_options options;
	struct graphs *graphs;       /* NULL: there are none */
	const struct report *report; /* NULL: none yet */
	struct page_state states[STATES];
	enum page_number page;
	enum page_number page_before; /* the graph of one thread leads back to it */
	bool has_chosen;              /* of whom the graph is: the user, or a report, once */
	bool is_users_choice;
	bool is_help;
	uint32_t columns, lines;
	char *filter;
	struct row_context context;
	struct rows *rows;
	bool is_stale; /* the rows are not those of the page as it is */
	struct search search;
	uint64_t formatted;
};

/* Adds a row as it is shown in so many columns. */
void model_format_row(struct model *model, size_t i, uint32_t columns, bool has_color, struct text *line);
