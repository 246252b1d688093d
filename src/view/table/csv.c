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

/*
 * Lists of the report that are shown, and what a row of them is called. object: of the report, which has the list;
 * NULL: the report itself. inner: a list that each row has, whose rows are shown with what identifies it.
 */
static const struct table {
	const char *object, *list, *inner, *row;
} tables[] = {
	{ NULL, "threads", NULL, "thread" },       { NULL, "paths", NULL, "path" },
	{ NULL, "waits", NULL, "wait" },           { NULL, "locks", NULL, "lock" },
	{ NULL, "files", NULL, "file" },           { NULL, "sockets", NULL, "socket" },
	{ "code", "functions", NULL, "function" }, { "code", "functions", "lines", "line" },
	{ "code", "stacks", NULL, "stack" },       { NULL, "paths", "functions", "path-function" },
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

/* "name", or "object.name" of a member of an object in the row. */
struct column {
	const char *object, *name; /* object: NULL: the row */
};

struct columns {
	struct column list[COLUMNS_MAX];
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

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void add_column(struct columns *columns, const char *object, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (is_same(columns->list[i].object, object) && !strcmp(columns->list[i].name, name))
			return;
	assert(columns->count < COLUMNS_MAX);
	columns->list[columns->count++] = (struct column){ object, name };
}

static void add_columns(struct columns *columns, const char *object, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART)
			add_columns(columns, object, field->type());
		else if (field->kind == REPORT_OBJECT && !field->is_list)
			add_columns(columns, field->name, field->type());
		else if (is_shown(field))
			add_column(columns, object, field->name);
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

static bool put_member(struct text *out, const struct report_type *type, const char *name, const char *row)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART && put_member(out, field->type(), name, row + field->at))
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

/* A row of the list that a report, or a row, has. */
struct row {
	const struct report_type *type;
	const char *bytes;
};

static bool put_cell(struct text *out, const struct column *column, const struct row *row)
{
	const struct report_field *object;

	if (!column->object)
		return put_member(out, row->type, column->name, row->bytes);
	object = report_field_named(row->type, column->object);
	return object && object->kind == REPORT_OBJECT && !object->is_list &&
	       put_member(out, object->type(), column->name, row->bytes + object->at);
}

/* What tells which row has the inner one. */
static bool is_identity(const char *name)
{
	return !strcmp(name, "name") || !strcmp(name, "module") || !strcmp(name, "rank");
}

static void put_identity(struct text *out, const struct column *column, const struct row *row)
{
	if (!column->object && is_identity(column->name))
		put_member(out, row->type, column->name, row->bytes);
}

/* above: the row that has this one; NULL: the report has it. */
static void put_row(struct text *out, const struct columns *columns, const char *name, const struct row *row,
		    const struct row *above)
{
	text_put(out, name);
	for (size_t i = 0; i < columns->count; i++) {
		text_put(out, ",");
		if (!put_cell(out, &columns->list[i], row) && above)
			put_identity(out, &columns->list[i], above);
	}
	text_put(out, "\r\n");
}

static void put_rows(struct text *out, const struct columns *columns, const struct table *table,
		     const struct report_field *list, const struct row *of, const struct row *above)
{
	const char *rows = *(const char *const *)(of->bytes + list->at);
	size_t count = *(const size_t *)(of->bytes + list->count_at);

	for (size_t i = 0; i < count; i++) {
		const struct row row = { list->type(), rows + i * list->size_bytes };

		if (table->inner && !above)
			put_rows(out, columns, table, report_field_named(row.type, table->inner), &row, &row);
		else
			put_row(out, columns, table->row, &row, above);
	}
}

/* What has the table's list. */
static struct row holder_of(const struct table *table, const struct report *report)
{
	const struct report_field *object = table->object ? report_field_named(report_type(), table->object) : NULL;

	if (!object)
		return (struct row){ report_type(), (const char *)report };
	return (struct row){ object->type(), (const char *)report + object->at };
}

static const struct report_type *type_of_rows(const struct table *table, const struct report_type *holder)
{
	const struct report_type *type = report_field_named(holder, table->list)->type();

	return table->inner ? report_field_named(type, table->inner)->type() : type;
}

void csv_put(struct text *out, const struct report *report)
{
	struct columns columns = { 0 };

	for (size_t i = 0; i < TABLES; i++)
		add_columns(&columns, NULL, type_of_rows(&tables[i], holder_of(&tables[i], report).type));
	text_put(out, "table");
	for (size_t i = 0; i < columns.count; i++)
		text_printf(out, ",%s%s%s", columns.list[i].object ? columns.list[i].object : "",
			    columns.list[i].object ? "." : "", columns.list[i].name);
	text_put(out, "\r\n");
	for (size_t i = 0; i < TABLES; i++) {
		const struct row holder = holder_of(&tables[i], report);

		put_rows(out, &columns, &tables[i], report_field_named(holder.type, tables[i].list), &holder, NULL);
	}
}
