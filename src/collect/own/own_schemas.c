/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/own_schemas.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "trace/trace_schema.h"

enum { SCHEMAS_MAX = 1024 };

struct own_schema {
	uint64_t name;
	struct trace_schema *described;
};

struct own_schemas {
	struct session *session;
	struct table *table; /* struct own_schema, by name; those that are none, too */
};

struct own_schemas *own_schemas_new(struct session *session)
{
	struct own_schemas *schemas = xcalloc(1, sizeof(*schemas));

	schemas->session = session;
	schemas->table = table_new();
	return schemas;
}

void own_schemas_free(struct own_schemas *schemas)
{
	struct own_schema *schema;
	size_t cursor = 0;

	while ((schema = table_next(schemas->table, &cursor))) {
		trace_schema_free(schema->described);
		free(schema);
	}
	table_free(schemas->table);
	free(schemas);
}

static void hand_out(struct own_schemas *schemas, uint64_t name, const char *text, size_t length)
{
	struct ev_user_schema *e = xcalloc(1, sizeof(*e) + length + 1);

	e->header.time_ns = session_time_ns(schemas->session);
	e->header.subsys = TRACE_SUBSYS_USER;
	e->header.event = TRACE_EVENT_USER_SCHEMA;
	e->schema = name;
	e->text_bytes = length + 1;
	memcpy(e->text, text, length);
	session_hand_out(schemas->session, &e->header);
	free(e);
}

const struct own_schema *own_schemas_take(struct own_schemas *schemas, const char *text, size_t length)
{
	uint64_t name = XXH64(text, length, 0) | 1; /* 0 is none */
	struct own_schema *schema = table_find(schemas->table, name);

	if (!schema) {
		if (table_count(schemas->table) == SCHEMAS_MAX)
			return NULL;
		schema = xcalloc(1, sizeof(*schema));
		schema->name = name;
		schema->described = trace_schema_parse_plecoc(text, length);
		table_put(schemas->table, name, schema);
		if (schema->described)
			hand_out(schemas, name, text, length);
	}
	return schema->described ? schema : NULL;
}

uint64_t own_schema_name(const struct own_schema *schema)
{
	return schema->name;
}

void own_schema_list_add(struct own_schema_list *list, const struct own_schema *schema)
{
	if (!schema)
		return;
	ARRAY_GROW(list->list, list->count, list->capacity, 2);
	list->list[list->count++] = schema;
	list->found_subsystem = 0;
}

void own_schema_list_fini(struct own_schema_list *list)
{
	free(list->list);
	*list = (struct own_schema_list){ 0 };
}

uint64_t own_schema_list_find(struct own_schema_list *list, uint16_t subsystem)
{
	if (list->found_subsystem == subsystem + 1u)
		return list->found;
	list->found_subsystem = subsystem + 1u;
	list->found = 0;
	for (size_t i = 0; i < list->count && !list->found; i++)
		if (trace_schema_subsystem(list->list[i]->described, subsystem))
			list->found = list->list[i]->name;
	return list->found;
}
