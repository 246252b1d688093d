/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a page: a tree, laid out as the list of what is not folded away. A row knows what it
 * shows, and makes its text when it is asked to, so that a page of any length costs what is seen of
 * it. What rows lead to is borrowed, until rows_clear().
 *
 * Owns: the pages of the terminal UI, row by row.
 * Used by: tui, options, show.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct fold_rules;
struct graphs;
struct output_lines;
struct page;
struct report;
struct report_field;
struct report_type;
struct row;
struct rows;
struct text;
struct unfolded;

/* What pages are made of, and how. */
struct row_context {
	const struct report *report;
	const struct output_lines *output; /* of the command; NULL: it is not kept */
	const struct graphs *graphs;       /* NULL: there are none */
	const struct fold_rules *fold;
	const struct unfolded *unfolded;
	const char *filter; /* empty: all is shown */
	size_t sort;        /* which of the page's orders */
	bool is_reversed;   /* what is last in it comes first */
	uint32_t width;     /* columns of the screen */
	bool has_unicode, has_color;
};

struct row_kind {
	/* Puts the text that follows the row's mark, on the line that it is on. */
	void (*put)(struct page *page, const struct row *row, const struct row_context *context);
	/* Adds what is below it; NULL: nothing ever is. */
	void (*add_children)(struct rows *rows, const struct row *row);
};

/* What item, owner, index and count mean is the kind's affair. */
struct row {
	const struct row_kind *kind;
	const void *item, *owner;
	size_t index, count;
	uint64_t key; /* the same for the same thing, whatever is around it */
	uint16_t depth;
	bool can_unfold, is_unfolded;
	bool begins_unfolded; /* it is, until the user folds it */
};

/* Rows beyond it are left out, and a last one says so. */
enum { ROWS_MAX = 500000, ROW_DEPTH_MAX = 64, ROW_INDENT = 2, ROW_MARK_COLUMNS = 3 };

/* Of a time in a table. */
enum { ROW_TIME_COLUMNS = 9 };

struct rows *rows_new(void);
void rows_free(struct rows *rows);

/* Empties it; context is borrowed for what is added next. */
void rows_clear(struct rows *rows, const struct row_context *context);

const struct row_context *rows_context(const struct rows *rows);

/*
 * Adds a row below parent, NULL for the top, and what is below it if it is unfolded. Its key needs
 * to be unique among those of the same kind and parent only.
 */
void rows_add(struct rows *rows, const struct row *parent, struct row row);

size_t rows_count(const struct rows *rows);
const struct row *rows_at(const struct rows *rows, size_t i);

/* Memory for what rows show, until rows_clear(). */
struct arena *rows_arena(struct rows *rows);

/*
 * Pointers to the items of an array in the order of compare, or as they are when it is NULL or says
 * that two are equal. Valid until rows_clear().
 */
const void *const *rows_sorted(struct rows *rows, const void *items, size_t count, size_t item_bytes,
			       int (*compare)(const void *a, const void *b));

/* The same by the uint64_t at so many bytes in an item, largest first; SIZE_MAX: as they are. */
const void *const *rows_sorted_by(struct rows *rows, const void *items, size_t count, size_t item_bytes, size_t at);

/* Items of that type, by the figure of the column's name, if it is not NULL and they have one: view/columns.h. */
const void *const *rows_sorted_by_column(struct rows *rows, const void *items, size_t count,
					 const struct report_type *type, const struct report_field *column);

/* True when there is no filter, or word (may be NULL) has it in it, whatever the case. */
bool rows_filter_has(const struct rows *rows, const char *word);

/* Text that is ours, colours included; number tells it from its neighbours. */
void rows_add_text(struct rows *rows, const struct row *parent, size_t number, const char *string);

/* The same for each line. */
void rows_add_lines(struct rows *rows, const struct row *parent, size_t number, const char *lines);

/* What a program chose, in as many rows as it takes to show all of it. */
void rows_add_whole(struct rows *rows, const struct row *parent, size_t number, const char *label, const char *name);

/* A line in bold, with an empty one before it but at the top of the page. */
void rows_add_heading(struct rows *rows, size_t number, const char *title);

/* The key of an item: its own, or where it stands when it has none. */
uint64_t row_key(uint64_t key, size_t index);
