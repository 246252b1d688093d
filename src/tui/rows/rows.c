/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_fields.h"
#include "tui/rows/unfolded.h"
#include "view/page.h"
#include "view/view.h"

struct rows {
	const struct row_context *context;
	struct arena *arena;
	struct row *rows;
	size_t count, capacity;
	bool is_full;
};

struct rows *rows_new(void)
{
	struct rows *rows = xcalloc(1, sizeof(*rows));

	rows->arena = arena_new();
	return rows;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	arena_free(rows->arena);
	free(rows->rows);
	free(rows);
}

void rows_clear(struct rows *rows, const struct row_context *context)
{
	arena_free(rows->arena);
	rows->arena = arena_new();
	rows->count = 0;
	rows->is_full = false;
	rows->context = context;
}

const struct row_context *rows_context(const struct rows *rows)
{
	return rows->context;
}

size_t rows_count(const struct rows *rows)
{
	return rows->count;
}

const struct row *rows_at(const struct rows *rows, size_t i)
{
	return &rows->rows[i];
}

struct arena *rows_arena(struct rows *rows)
{
	return rows->arena;
}

static void push(struct rows *rows, const struct row *row)
{
	ARRAY_GROW(rows->rows, rows->count, rows->capacity, 256);
	rows->rows[rows->count++] = *row;
}

uint64_t row_key(uint64_t key, size_t index)
{
	return key ? key : hash_u64(index + 1);
}

void rows_add(struct rows *rows, const struct row *parent, struct row row)
{
	uint64_t kind = (uintptr_t)row.kind;

	row.key = hash_u64(row.key ^ hash_u64(kind ^ (parent ? parent->key : 0)));
	row.depth = parent ? parent->depth + 1 : 0;
	row.is_unfolded = row.can_unfold && row.depth < ROW_DEPTH_MAX &&
			  unfolded_has(rows->context->unfolded, row.key, row.begins_unfolded);
	if (rows->count >= ROWS_MAX) {
		if (!rows->is_full) {
			rows->is_full = true;
			rows->count--;
			rows_add_text(rows, NULL, SIZE_MAX, "too many rows to show: fold some, or use the filter");
		}
		return;
	}
	push(rows, &row);
	if (row.is_unfolded)
		row.kind->add_children(rows, &row);
}

struct sort {
	int (*compare)(const void *a, const void *b);
};

static int compare_pointers(const void *a, const void *b, void *data)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	const struct sort *sort = data;
	int order = sort->compare(x, y);

	return order ? order : x < y ? -1 : x > y;
}

static void reverse(const void **items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		const void *item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

static const void **pointers_to(struct rows *rows, const void *items, size_t count, size_t item_bytes)
{
	const void **pointers = arena_alloc(rows->arena, count * sizeof(*pointers));

	for (size_t i = 0; i < count; i++)
		pointers[i] = (const char *)items + i * item_bytes;
	return pointers;
}

const void *const *rows_sorted(struct rows *rows, const void *items, size_t count, size_t item_bytes,
			       int (*compare)(const void *a, const void *b))
{
	const void **sorted = pointers_to(rows, items, count, item_bytes);
	struct sort sort = { compare };

	if (compare)
		qsort_r(sorted, count, sizeof(*sorted), compare_pointers, &sort);
	if (rows->context->is_reversed)
		reverse(sorted, count);
	return sorted;
}

static int compare_figures(const void *a, const void *b, void *data)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t at = *(const size_t *)data;
	uint64_t figure_x = *(const uint64_t *)(x + at), figure_y = *(const uint64_t *)(y + at);

	if (figure_x != figure_y)
		return figure_x < figure_y ? 1 : -1;
	return x < y ? -1 : x > y;
}

const void *const *rows_sorted_by(struct rows *rows, const void *items, size_t count, size_t item_bytes, size_t at)
{
	const void **sorted = pointers_to(rows, items, count, item_bytes);

	if (at != SIZE_MAX)
		qsort_r(sorted, count, sizeof(*sorted), compare_figures, &at);
	if (rows->context->is_reversed)
		reverse(sorted, count);
	return sorted;
}

const void *const *rows_sorted_by_column(struct rows *rows, const void *items, size_t count,
					 const struct report_type *type, const struct report_field *column)
{
	const struct report_field *field = column ? report_field_named(type, column->name) : NULL;

	return rows_sorted_by(rows, items, count, type->size_bytes, field ? field->at : SIZE_MAX);
}

bool rows_filter_has(const struct rows *rows, const char *word)
{
	const char *filter = rows->context->filter;

	return !filter || !*filter || (word && strcasestr(word, filter));
}

static void put_text(struct page *page, const struct row *row,
		     const struct row_context *context __attribute__((unused)))
{
	page_put(page, row->item);
}

static const struct row_kind text_kind = { put_text, NULL };

static void put_heading(struct page *page, const struct row *row,
			const struct row_context *context __attribute__((unused)))
{
	page_color(page, PAGE_BOLD);
	page_put(page, row->item);
}

static const struct row_kind heading_kind = { put_heading, NULL };

void rows_add_text(struct rows *rows, const struct row *parent, size_t number, const char *string)
{
	rows_add(rows, parent,
		 (struct row){
			 .kind = &text_kind,
			 .key = number,
			 .item = arena_strdup(rows->arena, string),
		 });
}

void rows_add_lines(struct rows *rows, const struct row *parent, size_t number, const char *lines)
{
	for (; *lines; number++) {
		size_t length = strcspn(lines, "\n");

		rows_add(rows, parent,
			 (struct row){
				 .kind = &text_kind,
				 .key = number,
				 .item = arena_printf(rows->arena, "%.*s", (int)length, lines),
			 });
		lines += length + (lines[length] == '\n');
	}
}

void rows_add_heading(struct rows *rows, size_t number, const char *title)
{
	if (rows->count)
		rows_add_text(rows, NULL, number, "");
	rows_add(rows, NULL,
		 (struct row){
			 .kind = &heading_kind,
			 .key = number,
			 .item = arena_strdup(rows->arena, title),
		 });
}

void rows_add_whole(struct rows *rows, const struct row *parent, size_t number, const char *label, const char *name)
{
	uint32_t indent = ROW_MARK_COLUMNS + (parent ? parent->depth + 1 : 0) * ROW_INDENT;
	uint32_t label_columns = text_columns(label), columns = rows->context->width;
	struct view_style style = { .has_unicode = rows->context->has_unicode };
	struct page page = { .style = &style };
	struct text text = { 0 };
	const char *at;

	columns = columns > indent + label_columns + 16 ? columns - indent - label_columns : 16;
	page_text_name(&page, &text, name);
	at = text.bytes;
	for (size_t i = 0; !i || *at; i++) {
		size_t length = page_bytes_of_columns(at, columns);

		rows_add(rows, parent,
			 (struct row){
				 .kind = &text_kind,
				 .key = number + i,
				 .item = arena_printf(rows->arena, "%*s%.*s", (int)label_columns, i ? "" : label,
						      (int)length, at),
			 });
		at += length;
	}
	text_fini(&text);
}
