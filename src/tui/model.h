/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the terminal UI shows of a report: pages of rows, each with its own order, cursor and
 * unfolded rows, which stay with what they belong to when a newer report comes. Knows nothing of
 * terminals. Borrows the report until the next one is set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/rows/pages.h"

struct fold_rules;
struct graphs_source;
struct model;
struct output_lines;
struct report;
struct text;

struct model_options {
	const struct fold_rules *fold;      /* borrowed; NULL: no frame is folded */
	const struct output_lines *output;  /* borrowed; NULL: there is none */
	const struct graphs_source *graphs; /* copied; of a trace; NULL: there is none */
	bool has_unicode, has_color;
};

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);

void model_set_report(struct model *model, const struct report *report);
bool model_has_report(const struct model *model);

/* The output has grown. */
void model_note_output(struct model *model);

/* Space for rows. */
void model_set_size(struct model *model, uint32_t columns, uint32_t lines);

/* Of a trace there are graphs, and no output; else it is the other way round. */
bool model_has_page(const struct model *model, enum page_number page);

/* Help is a page without a tab, from which any other leads back. */
void model_go_to(struct model *model, enum page_number page);
enum page_number model_page(const struct model *model);
void model_show_help(struct model *model, bool is_shown);
bool model_is_help(const struct model *model);

/* Rows of the page; what is seen of them begins with the top one. */
size_t model_count(struct model *model);
size_t model_top(struct model *model);
size_t model_cursor(struct model *model);

/* The text of a row, as a page makes it, not wider than the space. */
void model_put_row(struct model *model, size_t i, struct text *line);
void model_put_titles(struct model *model, struct text *line);

/* How many rows were made text of, ever. */
uint64_t model_formatted(const struct model *model);

/* The cursor goes to a row, if it is there. */
void model_select(struct model *model, size_t row);

/* Moves the cursor by so many rows, as far as there are any. */
void model_move(struct model *model, long rows);

/* The same by screens, and what is seen moves as far. */
void model_move_screens(struct model *model, long screens);

void model_toggle(struct model *model);
void model_unfold(struct model *model);
/* A row that is folded leads to the one that it is below. */
void model_fold(struct model *model);
/* All rows of the page, or none if all were. */
void model_unfold_all(struct model *model);

/*
 * Whom the thread of the row waited for: as a graph, and from there back to all. False: the row is of no
 * thread, or there are no graphs. At first they are of the thread that the report's largest finding held up, merged.
 */
bool model_toggle_thread(struct model *model);
/* Threads of one name as one, or apart, on pages of graphs; false: this is none. */
bool model_toggle_merged(struct model *model);

/* The page wants a graph that is not made: that may last, so the page is drawn first. */
bool model_wants_graph(const struct model *model);
void model_make_graph(struct model *model);

/* The page's next order; NULL when there is one only. */
void model_next_sort(struct model *model);

/* Its order the other way round, or back; false: the page has none. */
bool model_reverse_sort(struct model *model);
bool model_is_reversed(const struct model *model);
const char *model_sort_name(const struct model *model);

/* Copied. Empty: all is shown. */
void model_set_filter(struct model *model, const char *filter);
const char *model_filter(const struct model *model);
/* The page heeds it. */
bool model_is_filtered(const struct model *model);

enum search_state { SEARCH_NONE, SEARCH_GOING_ON, SEARCH_FOUND, SEARCH_FAILED };

/*
 * Looks for the next row that has the pattern (NULL: the last one) in it, from the cursor's row on
 * or from the one beside it, and once round the page. model_search_on() goes over so many rows.
 */
void model_search(struct model *model, const char *pattern, bool is_backwards, bool is_here);
enum search_state model_search_on(struct model *model, size_t rows_max);
const char *model_pattern(const struct model *model);
