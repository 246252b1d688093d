/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/trace_reader.h"

enum {
	JSON_BYTES_MAX = 4 << 20,
	FIELDS_MAX = 512,
	NAME_BYTES_MAX = 255,
	SIZE_BYTES_MAX = 4096, /* of a fixed part */
	KINDS_MAX = 1 << 16,
	NUMBER_MAX = 65534, /* of a subsystem, and of an event in it */
};

struct described {
	uint32_t subsys, event; /* numbers */
	struct event_kind kind;
};

struct trace_schema {
	struct arena *arena;
	struct table *kinds;      /* struct described, by kind_key() */
	struct table *subsystems; /* their names, by number + 1 */
};

/* --- Words and numbers ------------------------------------------------------------------------ */

/* A name that can stand in a line without being escaped; NULL: there is none. */
static const char *name_of(struct arena *arena, const json_t *object, const char *key)
{
	const char *name = json_string_value(json_object_get(object, key));
	size_t length = name ? strlen(name) : 0;

	if (!length || length > NAME_BYTES_MAX ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
		return NULL;
	return arena_strdup(arena, name);
}

/* 0 when it is not there, UINT32_MAX when it is no such number. */
static uint32_t number_of(const json_t *object, const char *key, uint32_t max)
{
	const json_t *value = json_object_get(object, key);
	json_int_t number = json_integer_value(value);

	if (!value)
		return 0;
	return json_is_integer(value) && number >= 0 && number <= max ? number : UINT32_MAX;
}

static bool take_type(struct event_field *field, const char *type)
{
	static const struct {
		const char *name;
		enum field_kind kind;
		uint32_t width_bytes;
	} types[] = {
		{ "u8", FIELD_UNSIGNED, 1 },  { "u16", FIELD_UNSIGNED, 2 }, { "u32", FIELD_UNSIGNED, 4 },
		{ "u64", FIELD_UNSIGNED, 8 }, { "s8", FIELD_SIGNED, 1 },    { "s16", FIELD_SIGNED, 2 },
		{ "s32", FIELD_SIGNED, 4 },   { "s64", FIELD_SIGNED, 8 },   { "char", FIELD_CHAR, 1 },
	};

	for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].name, type)) {
			field->kind = types[i].kind;
			field->width_bytes = types[i].width_bytes;
			return true;
		}
	return false;
}

/* --- Fields --------------------------------------------------------------------------------------- */

/* The field that has a number of elements or strings. */
static bool take_number_field(const struct event_kind *kind, const char *name, uint32_t *number)
{
	for (uint32_t i = 0; name && i < kind->field_count; i++) {
		const struct event_field *field = &kind->fields[i];

		if (!strcmp(field->name, name)) {
			*number = i;
			return field->kind == FIELD_UNSIGNED && !field->count && !field->is_flexible;
		}
	}
	return false;
}

static bool take_length(const struct event_kind *kind, struct event_field *field, const json_t *length)
{
	size_t count = json_array_size(length);

	if (!length)
		return true;
	if (!count || count > LENGTH_FIELDS_MAX)
		return false;
	for (field->length_field_count = 0; field->length_field_count < count; field->length_field_count++)
		if (!take_number_field(kind, json_string_value(json_array_get(length, field->length_field_count)),
				       &field->length_fields[field->length_field_count]))
			return false;
	return true;
}

static bool take_strings(const struct event_kind *kind, struct event_field *field, const json_t *strings)
{
	if (!strings)
		return true;
	if (field->width_bytes != 1)
		return false;
	if (json_is_true(strings)) {
		field->strings = STRINGS_ANY;
		return true;
	}
	if (json_is_string(strings)) {
		field->strings = STRINGS_BY_FIELD;
		return take_number_field(kind, json_string_value(strings), &field->string_count);
	}
	field->strings = STRINGS_COUNT;
	field->string_count = json_integer_value(strings);
	return json_is_integer(strings) && json_integer_value(strings) > 0 && json_integer_value(strings) < 10;
}

/* Of the meanings only one is asked for here: which threads an event is about. */
static void take_meaning(struct event_kind *kind, struct event_field *field, const json_t *json)
{
	const char *about = json_string_value(json_object_get(json, "about"));

	if (!about || strcmp(about, "thread") || field->count || field->is_flexible)
		return;
	field->meaning = MEANS_THREAD;
	field->role = ROLE_ABOUT;
	kind->meanings |= 1u << MEANS_THREAD;
}

/* Whether it lies within the fixed part, or behind it. */
static bool is_in_place(const struct event_kind *kind, const struct event_field *field)
{
	uint64_t bytes = (uint64_t)field->width_bytes * (field->count ? field->count : 1);

	if (field->is_flexible)
		return field->offset_bytes == kind->size_bytes && !field->count;
	return field->offset_bytes >= sizeof(struct ev_header) && field->offset_bytes <= kind->size_bytes &&
	       bytes <= kind->size_bytes - field->offset_bytes;
}

/* kind has the fields before it. */
static bool take_field(struct arena *arena, struct event_kind *kind, const json_t *json, struct event_field *field)
{
	*field = (struct event_field){
		.name = name_of(arena, json, "name"),
		.offset_bytes = number_of(json, "offset", SIZE_BYTES_MAX),
		.count = number_of(json, "count", SIZE_BYTES_MAX),
		.is_flexible = json_is_true(json_object_get(json, "flexible")),
	};
	if (!field->name || !take_type(field, json_string_value(json_object_get(json, "type"))) ||
	    !is_in_place(kind, field))
		return false;
	take_meaning(kind, field, json);
	if (!field->is_flexible)
		return !kind->field_count || !kind->fields[kind->field_count - 1].is_flexible;
	return take_length(kind, field, json_object_get(json, "length")) &&
	       take_strings(kind, field, json_object_get(json, "strings"));
}

static bool take_fields(struct arena *arena, struct event_kind *kind, const json_t *json)
{
	size_t count = json_array_size(json);
	struct event_field *fields;

	if (count > FIELDS_MAX)
		return false;
	fields = arena_alloc(arena, (count + 1) * sizeof(*fields));
	kind->fields = fields;
	for (; kind->field_count < count; kind->field_count++)
		if (!take_field(arena, kind, json_array_get(json, kind->field_count), &fields[kind->field_count]))
			return false;
	kind->is_flexible = count && fields[count - 1].is_flexible;
	return true;
}

/* --- Events ----------------------------------------------------------------------------------------- */

static uint64_t kind_key(uint32_t subsys, uint32_t event)
{
	return (uint64_t)subsys << 16 | event;
}

/* An event that has a text alone, which can be its name. */
static const char *name_of_text(struct arena *arena, const json_t *object, uint32_t event)
{
	json_t *pair = json_pack("{s:O}", "name", object);
	const char *name = name_of(arena, pair, "name");

	json_decref(pair);
	return name ? name : arena_printf(arena, "%" PRIu32, event);
}

static bool take_event_kind(struct arena *arena, struct event_kind *kind, uint32_t event, const json_t *json)
{
	if (json_is_string(json)) {
		kind->event = name_of_text(arena, json, event);
		kind->text = arena_strdup(arena, json_string_value(json));
		kind->size_bytes = sizeof(struct ev_header);
		kind->fields = arena_alloc(arena, sizeof(*kind->fields));
		return true;
	}
	kind->event = name_of(arena, json, "name");
	kind->size_bytes = number_of(json, "size", SIZE_BYTES_MAX);
	return kind->event && kind->size_bytes >= sizeof(struct ev_header) && kind->size_bytes != UINT32_MAX &&
	       take_fields(arena, kind, json_object_get(json, "fields"));
}

static void take_event(struct trace_schema *schema, const char *name, uint32_t subsys, uint32_t event,
		       const json_t *json)
{
	struct described *described = arena_alloc(schema->arena, sizeof(*described));

	if (table_count(schema->kinds) == KINDS_MAX)
		return;
	described->subsys = subsys;
	described->event = event;
	described->kind = (struct event_kind){ .subsys = name, .text = "" };
	if (take_event_kind(schema->arena, &described->kind, event, json))
		table_put(schema->kinds, kind_key(subsys, event), described);
}

/* The number that a key is; false: it is none. */
static bool take_number(const char *key, uint32_t *number)
{
	size_t length = strspn(key, "0123456789");

	if (!length || length > 5 || key[length])
		return false;
	*number = strtoul(key, NULL, 10);
	return *number <= NUMBER_MAX;
}

static void take_subsystem(struct trace_schema *schema, uint32_t subsys, json_t *json)
{
	const char *name = name_of(schema->arena, json, "name"), *key;
	json_t *event;
	uint32_t number;

	if (!name)
		return;
	table_put(schema->subsystems, (uint64_t)subsys + 1, (void *)name);
	json_object_foreach(json_object_get(json, "events"), key, event) if (take_number(key, &number))
		take_event(schema, name, subsys, number, event);
}

/* NULL: it is no object. */
static struct trace_schema *take_schema(json_t *described)
{
	struct trace_schema *schema;
	const char *key;
	json_t *subsystem;
	uint32_t number;

	if (!json_is_object(described))
		return NULL;
	schema = xcalloc(1, sizeof(*schema));
	schema->arena = arena_new();
	schema->kinds = table_new();
	schema->subsystems = table_new();
	json_object_foreach(described, key, subsystem) if (take_number(key, &number))
		take_subsystem(schema, number, subsystem);
	return schema;
}

static json_t *load(const char *json, size_t size_bytes)
{
	return size_bytes <= JSON_BYTES_MAX ? json_loadb(json, size_bytes, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

struct trace_schema *trace_schema_parse(const char *json, size_t size_bytes)
{
	json_t *root = load(json, size_bytes);
	struct trace_schema *schema = take_schema(json_object_get(root, "schema"));

	json_decref(root);
	return schema;
}

struct trace_schema *trace_schema_parse_plecoc(const char *json, size_t size_bytes)
{
	json_t *root = load(json, size_bytes);
	struct trace_schema *schema = take_schema(root);

	json_decref(root);
	return schema;
}

struct trace_schema *trace_schema_read(struct trace_reader *reader)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(reader, &count);
	struct trace_schema *schema = NULL;
	const void *content;

	for (size_t i = 0; i < count && !schema; i++)
		if (places[i].kind == TRACE_CHUNK_INFO && !trace_reader_content(reader, i, &content, &size_bytes))
			schema = trace_schema_parse(content, size_bytes);
	return schema;
}

void trace_schema_free(struct trace_schema *schema)
{
	if (!schema)
		return;
	table_free(schema->kinds);
	table_free(schema->subsystems);
	arena_free(schema->arena);
	free(schema);
}

const struct event_kind *trace_schema_find(const struct trace_schema *schema, unsigned int subsys, unsigned int event,
					   size_t size_bytes)
{
	const struct described *described;

	if (!schema || subsys > NUMBER_MAX || event > NUMBER_MAX)
		return NULL;
	described = table_find(schema->kinds, kind_key(subsys, event));
	return described && described->kind.size_bytes <= size_bytes ? &described->kind : NULL;
}

const char *trace_schema_subsystem(const struct trace_schema *schema, unsigned int subsys)
{
	return table_find(schema->subsystems, (uint64_t)subsys + 1);
}

const struct event_kind *trace_schema_next(const struct trace_schema *schema, size_t *cursor, unsigned int *subsys,
					   unsigned int *event)
{
	const struct described *described = table_next(schema->kinds, cursor);

	if (!described)
		return NULL;
	*subsys = described->subsys;
	*event = described->event;
	return &described->kind;
}
