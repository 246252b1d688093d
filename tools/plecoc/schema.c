/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a set of Pleco files declares. */
#include "schema.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

static const struct field_type field_types[] = {
	{ "u8", "__u8", 1 },   { "u16", "__u16", 2 }, { "u32", "__u32", 4 }, { "u64", "__u64", 8 }, { "s8", "__s8", 1 },
	{ "s16", "__s16", 2 }, { "s32", "__s32", 4 }, { "s64", "__s64", 8 }, { "char", "char", 1 },
};

const struct field_type *field_type_find(const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(field_types) / sizeof(field_types[0]); i++)
		if (strlen(field_types[i].name) == size && !memcmp(field_types[i].name, name, size))
			return &field_types[i];
	return NULL;
}

/* Space for one more at the end. The capacity is the next power of two, so it needs no field. */
static void *grow(void *items, size_t count, size_t size)
{
	bool is_full = !(count & (count - 1));

	return is_full ? xrealloc(items, (count ? 2 * count : 1) * size) : items;
}

struct subsystem *schema_add_subsystem(struct schema *schema, struct declaration declaration)
{
	struct subsystem *subsystem;

	schema->subsystems = grow(schema->subsystems, schema->subsystem_count, sizeof(*subsystem));
	subsystem = &schema->subsystems[schema->subsystem_count++];
	*subsystem = (struct subsystem){ .declaration = declaration };
	return subsystem;
}

struct event *subsystem_add_event(struct subsystem *subsystem, struct declaration declaration)
{
	struct event *event;

	subsystem->events = grow(subsystem->events, subsystem->event_count, sizeof(*event));
	event = &subsystem->events[subsystem->event_count++];
	*event = (struct event){ .declaration = declaration, .size = HEADER_SIZE };
	return event;
}

struct field *event_add_field(struct event *event, struct declaration declaration)
{
	struct field *field;

	event->fields = grow(event->fields, event->field_count, sizeof(*field));
	field = &event->fields[event->field_count++];
	*field = (struct field){ .declaration = declaration };
	return field;
}

static void event_fini(struct event *event)
{
	size_t i;

	for (i = 0; i < event->field_count; i++) {
		free(event->fields[i].declaration.name);
		free(event->fields[i].meaning);
	}
	free(event->fields);
	free(event->text);
	free(event->declaration.name);
}

void schema_fini(struct schema *schema)
{
	size_t i, j;

	for (i = 0; i < schema->subsystem_count; i++) {
		struct subsystem *subsystem = &schema->subsystems[i];

		for (j = 0; j < subsystem->event_count; j++)
			event_fini(&subsystem->events[j]);
		free(subsystem->events);
		free(subsystem->declaration.name);
	}
	free(schema->subsystems);
	*schema = (struct schema){ 0 };
}
