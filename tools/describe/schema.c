/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "describe.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "documents.h"
#include "types.h"

static const char about[] =
	"%s Members may be added within a version of this schema, so readers skip those they do not know; removing a member "
	"or changing its meaning raises the version. Times are nanoseconds (_ns), sizes bytes (_bytes), shares numbers from "
	"0 to 1. Text that a program chose is as it wrote it, with invalid UTF-8 replaced by U+FFFD.";

static void put(struct json *json, const char *key, const char *string)
{
	json_key(json, key);
	json_string(json, string);
}

static void put_number(struct json *json, const char *key, uint64_t number)
{
	json_key(json, key);
	json_uint(json, number);
}

/* "report_path" is "path". */
static const char *short_name(const char *name)
{
	return strncmp(name, "report_", 7) && strncmp(name, "result_", 7) ? name : strchr(name, '_') + 1;
}

static void put_ref(struct json *json, const char *name)
{
	char ref[64];

	snprintf(ref, sizeof(ref), "#/$defs/%s", short_name(name));
	put(json, "$ref", ref);
}

static void put_type(struct json *json, const char *type, bool may_be_null)
{
	json_key(json, "type");
	if (!may_be_null) {
		json_string(json, type);
		return;
	}
	json_begin_array(json);
	json_string(json, type);
	json_string(json, "null");
	json_end_array(json);
}

static void put_integer_or_null(struct json *json, uint64_t minimum)
{
	put_type(json, "integer", true);
	put_number(json, "minimum", minimum);
}

static void put_ref_or_null(struct json *json, const char *name)
{
	json_key(json, "anyOf");
	json_begin_array(json);
	json_begin_object(json);
	put_ref(json, name);
	json_end_object(json);
	json_begin_object(json);
	put(json, "type", "null");
	json_end_object(json);
	json_end_array(json);
}

/* Members of the open object. */
static void put_kind(struct json *json, const struct report_field *field)
{
	switch (field->kind) {
	case REPORT_NS:
		put_ref(json, "ns");
		break;
	case REPORT_SIGNED_NS:
		put_type(json, "integer", false);
		break;
	case REPORT_COUNT:
	case REPORT_SMALL:
		put_ref(json, "count");
		break;
	case REPORT_BYTES:
		put_ref(json, "bytes");
		break;
	case REPORT_NUMBER:
	case REPORT_SHARE:
		put_ref(json, "number");
		break;
	case REPORT_ID:
		put_ref(json, "id");
		break;
	case REPORT_FROM_ONE:
		put_integer_or_null(json, 1);
		break;
	case REPORT_INDEX:
	case REPORT_STATUS:
		put_integer_or_null(json, 0);
		break;
	case REPORT_FLAG:
		put_type(json, "boolean", false);
		break;
	case REPORT_TEXT:
	case REPORT_SENTENCE:
	case REPORT_NAMES:
		put_type(json, "string", false);
		break;
	case REPORT_TEXT_OR_NULL:
		put_type(json, "string", true);
		break;
	case REPORT_DEVICE:
		put_ref(json, "device");
		break;
	case REPORT_HISTOGRAM:
		put_ref(json, "histogram");
		break;
	case REPORT_ENUM:
		put_ref(json, field->of()->name);
		break;
	case REPORT_ENUM_OR_NULL:
		put_ref_or_null(json, field->of()->name);
		break;
	case REPORT_OBJECT:
		put_ref(json, field->type()->name);
		break;
	case REPORT_OBJECT_OR_NULL:
		put_ref_or_null(json, field->type()->name);
		break;
	case REPORT_PART:
		break;
	}
}

static void put_value(struct json *json, const struct report_field *field)
{
	if (!field->is_list) {
		put_kind(json, field);
		return;
	}
	put(json, "type", field->is_map ? "object" : "array");
	json_key(json, field->is_map ? "additionalProperties" : "items");
	json_begin_object(json);
	put_kind(json, field);
	json_end_object(json);
}

static void put_since(struct json *json, uint32_t since)
{
	char comment[32];

	if (since < 2)
		return;
	snprintf(comment, sizeof(comment), "since version %u", since);
	put(json, "$comment", comment);
}

static void put_properties(struct json *json, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART) {
			put_properties(json, field->type());
			continue;
		}
		json_key(json, field->name);
		json_on_one_line(json);
		json_begin_object(json);
		if (field->meaning)
			put(json, "description", field->meaning);
		put_since(json, field->since);
		put_value(json, field);
		json_end_object(json);
	}
}

static void put_required(struct json *json, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->is_optional)
			continue;
		if (field->kind == REPORT_PART)
			put_required(json, field->type());
		else
			json_string(json, field->name);
	}
}

/* What wrote it: of the document, not of the report. */
static void put_pinch(struct json *json)
{
	json_key(json, "pinch");
	json_begin_object(json);
	put(json, "description", "What wrote this.");
	put(json, "type", "object");
	json_key(json, "required");
	json_on_one_line(json);
	json_begin_array(json);
	json_string(json, "version");
	json_string(json, "schema");
	json_end_array(json);
	json_key(json, "properties");
	json_begin_object(json);
	json_key(json, "version");
	json_on_one_line(json);
	json_begin_object(json);
	put(json, "description", "Version of pinch.");
	put(json, "type", "string");
	json_end_object(json);
	json_key(json, "schema");
	json_on_one_line(json);
	json_begin_object(json);
	put(json, "description", "Version of this schema.");
	put_number(json, "const", REPORT_SCHEMA);
	json_end_object(json);
	json_end_object(json);
	json_end_object(json);
}

static void put_members(struct json *json, const struct report_type *type, bool says_version)
{
	put(json, "type", "object");
	json_key(json, "required");
	json_on_one_line(json);
	json_begin_array(json);
	if (says_version)
		json_string(json, "pinch");
	put_required(json, type);
	json_end_array(json);
	json_key(json, "properties");
	json_begin_object(json);
	if (says_version)
		put_pinch(json);
	put_properties(json, type);
	json_end_object(json);
}

static void put_struct(struct json *json, const struct report_type *type)
{
	json_key(json, short_name(type->name));
	json_begin_object(json);
	put(json, "description", type->meaning);
	if (type->is_bare)
		put_value(json, type->fields);
	else
		put_members(json, type, false);
	json_end_object(json);
}

static void put_enum(struct json *json, const struct report_enum *of)
{
	json_key(json, of->name);
	json_on_one_line(json);
	json_begin_object(json);
	put(json, "description", of->meaning);
	json_key(json, "enum");
	json_begin_array(json);
	for (size_t i = 0; i < of->count; i++)
		if (of->names[i])
			json_string(json, of->names[i]);
	json_end_array(json);
	json_end_object(json);
}

static void begin_scalar(struct json *json, const char *name, const char *meaning, const char *type, bool may_be_null)
{
	json_key(json, name);
	json_on_one_line(json);
	json_begin_object(json);
	put(json, "description", meaning);
	put_type(json, type, may_be_null);
}

static void put_unsigned(struct json *json, const char *name, const char *meaning, uint64_t maximum)
{
	begin_scalar(json, name, meaning, "integer", false);
	put_number(json, "minimum", 0);
	if (maximum)
		put_number(json, "maximum", maximum);
	json_end_object(json);
}

/* The rest of a pair of integers. */
static void put_pair(struct json *json)
{
	json_key(json, "items");
	json_begin_object(json);
	put(json, "type", "integer");
	json_end_object(json);
	put_number(json, "minItems", 2);
	put_number(json, "maxItems", 2);
}

static void put_scalars(struct json *json)
{
	put_unsigned(json, "ns", "Nanoseconds.", 0);
	put_unsigned(json, "count", "How many.", 0);
	put_unsigned(json, "bytes", "How many bytes.", 0);
	put_unsigned(json, "id", "Of a thread or a process.", UINT32_MAX);
	begin_scalar(json, "number", "null: not a number.", "number", true);
	json_end_object(json);
	begin_scalar(json, "device", "Major and minor number.", "array", false);
	put_pair(json);
	json_end_object(json);
	begin_scalar(
		json, "histogram",
		"Waits by length: pairs of the shortest length of a step, in ns, and the number of waits; a last pair "
		"without any is where the step before it ends.",
		"array", false);
	json_key(json, "items");
	json_begin_object(json);
	put(json, "type", "array");
	put_pair(json);
	json_end_object(json);
	json_end_object(json);
}

static void put_head(struct json *json, const struct document *document)
{
	struct text words = { 0 };

	put(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	text_printf(&words, "https://pinch.invalid/%s-schema-%d.json", document->name, REPORT_SCHEMA);
	put(json, "$id", words.bytes);
	put(json, "$comment", "SPDX-License-Identifier: GPL-2.0-or-later");
	words.length = 0;
	text_printf(&words, "pinch %s", document->name);
	put(json, "title", words.bytes);
	words.length = 0;
	text_printf(&words, about, document->type()->meaning);
	put(json, "description", words.bytes);
	text_fini(&words);
}

void describe_schema(struct text *out, const struct document *document)
{
	struct types types = { 0 };
	struct json json;

	types_add(&types, document->type());
	json_init(&json, out);
	json_begin_object(&json);
	put_head(&json, document);
	put_members(&json, types.types[0], document->says_version);
	json_key(&json, "$defs");
	json_begin_object(&json);
	for (size_t i = 1; i < types.type_count; i++)
		if (!types.is_part[i])
			put_struct(&json, types.types[i]);
	for (size_t i = 0; i < types.enum_count; i++)
		put_enum(&json, types.enums[i]);
	put_scalars(&json);
	json_end_object(&json);
	json_end_object(&json);
	json_fini(&json);
}
