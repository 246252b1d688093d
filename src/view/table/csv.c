/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of all rows: a column for each member that the report's description has of them, under its name in
 * JSON; those of one name share a column.
 */
#include "view/table/csv.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_fields.h"

enum { COLUMNS_MAX = 128 };

/* Lists of the report that are shown, and what a row of them is called. */
static const struct {
	const char *list, *row;
} tables[] = {
	{ "threads", "thread" }, { "paths", "path" }, { "waits", "wait" },
	{ "locks", "lock" },     { "files", "file" }, { "sockets", "socket" },
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

struct columns {
	const char *names[COLUMNS_MAX];
	size_t count;
};

static bool is_stack(const struct report_field *field)
{
	return field->is_list && !strcmp(field->name, "stack");
}

static bool is_shown(const struct report_field *field)
{
	return is_stack(field) || (!field->is_list && field->kind != REPORT_OBJECT && field->kind != REPORT_HISTOGRAM);
}

static size_t column_of(const struct columns *columns, const char *name)
{
	size_t i = 0;

	while (i < columns->count && strcmp(columns->names[i], name) != 0)
		i++;
	return i;
}

static void add_columns(struct columns *columns, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART) {
			add_columns(columns, field->type());
			continue;
		}
		if (!is_shown(field) || column_of(columns, field->name) < columns->count)
			continue;
		assert(columns->count < COLUMNS_MAX);
		columns->names[columns->count++] = field->name;
	}
}

static void put_quoted(struct text *out, const char *string)
{
	struct text escaped = { 0 };

	if (!string || !*string)
		return;
	text_put_escaped(&escaped, string);
	text_put(out, strchr("=+-@", *escaped.bytes) ? "\"'" : "\"");
	for (const char *c = escaped.bytes; *c; c++)
		text_put_bytes(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
	text_put(out, "\"");
	text_fini(&escaped);
}

/* "inner < caller < ...", as the text has it. */
static void put_stack(struct text *out, const struct report_frame *frames, size_t count)
{
	struct text stack = { 0 };

	for (size_t i = 0; i < count; i++) {
		text_put(&stack, i ? " < " : "");
		text_put(&stack, frames[i].function ? frames[i].function
				 : frames[i].module ? frames[i].module
						    : "[unknown]");
	}
	put_quoted(out, stack.bytes);
	text_fini(&stack);
}

/* What is null is empty. */
static void put_value(struct text *out, const struct report_field *field, const void *value)
{
	const struct report_device *device = value;

	switch (field->kind) {
	case REPORT_NS:
	case REPORT_COUNT:
	case REPORT_BYTES:
		text_printf(out, "%llu", (unsigned long long)*(const uint64_t *)value);
		break;
	case REPORT_NUMBER:
	case REPORT_SHARE:
		if (isfinite(*(const double *)value))
			text_printf(out, "%.9g", *(const double *)value);
		break;
	case REPORT_ID:
	case REPORT_SMALL:
		text_printf(out, "%u", *(const uint32_t *)value);
		break;
	case REPORT_FROM_ONE:
		if (*(const uint32_t *)value)
			text_printf(out, "%u", *(const uint32_t *)value);
		break;
	case REPORT_FLAG:
		text_put(out, *(const bool *)value ? "true" : "false");
		break;
	case REPORT_DEVICE:
		text_printf(out, "%u:%u", device->major, device->minor);
		break;
	case REPORT_ENUM:
	case REPORT_ENUM_OR_NULL:
		put_quoted(out, report_enum_name(field->of(), *(const unsigned int *)value));
		break;
	default:
		put_quoted(out, *(const char *const *)value);
		break;
	}
}

static bool put_cell(struct text *out, const struct report_type *type, const char *name, const char *row)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART && put_cell(out, field->type(), name, row + field->at))
			return true;
		if (!is_shown(field) || strcmp(field->name, name) != 0)
			continue;
		if (is_stack(field))
			put_stack(out, *(const struct report_frame *const *)(row + field->at),
				  *(const size_t *)(row + field->count_at));
		else
			put_value(out, field, row + field->at);
		return true;
	}
	return false;
}

static void put_rows(struct text *out, const struct columns *columns, const struct report *report, size_t table)
{
	const struct report_field *list = report_field_named(report_type(), tables[table].list);
	const char *rows = *(const char *const *)((const char *)report + list->at);
	size_t count = *(const size_t *)((const char *)report + list->count_at);

	for (size_t i = 0; i < count; i++) {
		text_put(out, tables[table].row);
		for (size_t k = 0; k < columns->count; k++) {
			text_put(out, ",");
			put_cell(out, list->type(), columns->names[k], rows + i * list->size_bytes);
		}
		text_put(out, "\r\n");
	}
}

void csv_put(struct text *out, const struct report *report)
{
	struct columns columns = { 0 };

	for (size_t table = 0; table < TABLES; table++)
		add_columns(&columns, report_field_named(report_type(), tables[table].list)->type());
	text_put(out, "table");
	for (size_t i = 0; i < columns.count; i++)
		text_printf(out, ",%s", columns.names[i]);
	text_put(out, "\r\n");
	for (size_t table = 0; table < TABLES; table++)
		put_rows(out, &columns, report, table);
}
