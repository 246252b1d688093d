/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "describe.h"

#include <ctype.h>

#include "base/text.h"
#include "documents.h"
#include "types.h"

/* "report_path" is "ReportPath". */
static void put_type_name(struct text *out, const char *name)
{
	bool is_first = true;

	for (; *name; name++) {
		if (*name != '_')
			text_printf(out, "%c", is_first ? toupper(*name) : *name);
		is_first = *name == '_';
	}
}

static void put_kind(struct text *out, const struct report_field *field)
{
	switch (field->kind) {
	case REPORT_NS:
	case REPORT_SIGNED_NS:
	case REPORT_COUNT:
	case REPORT_BYTES:
	case REPORT_NUMBER:
	case REPORT_SHARE:
	case REPORT_ID:
	case REPORT_SMALL:
		text_put(out, "number");
		break;
	case REPORT_FROM_ONE:
	case REPORT_INDEX:
	case REPORT_STATUS:
		text_put(out, "number | null");
		break;
	case REPORT_FLAG:
		text_put(out, "boolean");
		break;
	case REPORT_TEXT:
	case REPORT_SENTENCE:
	case REPORT_NAMES:
		text_put(out, "string");
		break;
	case REPORT_TEXT_OR_NULL:
		text_put(out, "string | null");
		break;
	case REPORT_DEVICE:
		text_put(out, "[number, number]");
		break;
	case REPORT_HISTOGRAM:
		text_put(out, "Histogram");
		break;
	case REPORT_ENUM:
	case REPORT_ENUM_OR_NULL:
		put_type_name(out, field->of()->name);
		text_put(out, field->kind == REPORT_ENUM ? "" : " | null");
		break;
	case REPORT_OBJECT:
	case REPORT_OBJECT_OR_NULL:
		put_type_name(out, field->type()->name);
		text_put(out, field->kind == REPORT_OBJECT ? "" : " | null");
		break;
	case REPORT_PART:
		break;
	}
}

static void put_value(struct text *out, const struct report_field *field)
{
	text_put(out, field->is_map ? "Record<string, " : "");
	put_kind(out, field);
	text_put(out, field->is_map ? ">;\n" : field->is_list ? "[];\n" : ";\n");
}

static void put_members(struct text *out, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART)
			continue;
		if (field->meaning)
			text_printf(out, "\t/** %s */\n", field->meaning);
		text_printf(out, "\t%s%s: ", field->name, field->is_optional ? "?" : "");
		put_value(out, field);
	}
}

static void put_parts(struct text *out, const struct report_type *type)
{
	const char *before = " extends ";

	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind != REPORT_PART)
			continue;
		text_put(out, before);
		text_put(out, field->is_optional ? "Partial<" : "");
		put_type_name(out, field->type()->name);
		text_put(out, field->is_optional ? ">" : "");
		before = ", ";
	}
}

static void put_struct(struct text *out, const struct report_type *type)
{
	text_printf(out, "\n/** %s */\nexport %s ", type->meaning, type->is_bare ? "type" : "interface");
	put_type_name(out, type->name);
	if (type->is_bare) {
		text_put(out, " = ");
		put_value(out, type->fields);
		return;
	}
	put_parts(out, type);
	text_put(out, " {\n");
	put_members(out, type);
	text_put(out, "}\n");
}

static void put_enum(struct text *out, const struct report_enum *of)
{
	bool is_first = true;

	text_printf(out, "\n/** %s */\nexport type ", of->meaning);
	put_type_name(out, of->name);
	text_put(out, " =");
	for (size_t i = 0; i < of->count; i++) {
		if (!of->names[i])
			continue;
		text_printf(out, "%s \"%s\"", is_first ? "" : " |", of->names[i]);
		is_first = false;
	}
	text_put(out, ";\n");
}

static const char *unit_of(const struct report_field *field)
{
	switch (field->kind) {
	case REPORT_NS:
		return "ns";
	case REPORT_BYTES:
		return "bytes";
	case REPORT_SHARE:
		return "share";
	default:
		return "times";
	}
}

static bool has_titles(const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++)
		if (field->title || (field->kind == REPORT_PART && has_titles(field->type())))
			return true;
	return false;
}

static void put_titles(struct text *out, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART)
			put_titles(out, field->type());
		else if (field->title)
			text_printf(out, "\t{ name: \"%s\", title: \"%s\", unit: \"%s\" },\n", field->name,
				    field->title, unit_of(field));
	}
}

static void put_columns(struct text *out, const struct report_type *type)
{
	if (!has_titles(type))
		return;
	text_put(out, "\nexport const columnsOf");
	put_type_name(out, type->name);
	text_put(out, " = [\n");
	put_titles(out, type);
	text_put(out, "] as const;\n");
}

/* What JSON has besides. */
static const char others[] = "\n/** Waits by length: from which ns on, how many. */\n"
			     "export type Histogram = [number, number][];\n"
			     "\n/** A report, and what wrote it. */\n"
			     "export interface ReportDocument extends Report {\n"
			     "\tpinch: { version: string; schema: number };\n"
			     "}\n";

void describe_types(struct text *out)
{
	struct types types = { 0 };

	for (size_t i = 0; i < DOCUMENTS; i++)
		types_add(&types, documents[i].type());
	for (size_t i = 0; i < ANSWERS; i++)
		types_add(&types, answers[i]());
	text_put(out, "// Written by tools/describe: src/report/, src/results/.\n");
	for (size_t i = 0; i < types.type_count; i++)
		put_struct(out, types.types[i]);
	for (size_t i = 0; i < types.enum_count; i++)
		put_enum(out, types.enums[i]);
	for (size_t i = 0; i < types.type_count; i++)
		if (!types.is_part[i])
			put_columns(out, types.types[i]);
	text_put(out, others);
}
