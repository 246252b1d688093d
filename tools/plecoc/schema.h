/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a set of Pleco files declares. A schema owns its names and texts and borrows the sources:
 * they must live as long as it does. Numbers are positions: subsystems[1].events[0] is event 0 of
 * subsystem 1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

enum {
	SUBSYSTEM_COUNT_MAX = 65535,
	EVENT_COUNT_MAX = 65535,
	ARRAY_COUNT_MAX = 65535,
	NAME_SIZE_MAX = 255,
	EVENT_SIZE_MAX = 1 << 30, /* so that offsets fit every reader, JavaScript included */
	HEADER_SIZE = 16,         /* of struct ev_header, which every event begins with */
	EVENT_ALIGNMENT = 8,      /* of struct ev_header, hence of every event */
};

struct declaration {
	char *name;
	const struct source *source; /* where the name stands */
	size_t offset;
};

struct field_type {
	const char *name, *c_name;
	unsigned int size;
};

struct field {
	struct declaration declaration;
	const struct field_type *type;
	uint64_t offset;
	uint32_t count; /* of a fixed array; else 0 */
	bool is_flexible;
};

struct event {
	struct declaration declaration;
	char *text; /* never empty */
	struct field *fields;
	size_t field_count;
	uint64_t size; /* with the header, without a flexible array */
};

struct subsystem {
	struct declaration declaration;
	struct event *events;
	size_t event_count;
};

struct schema {
	struct subsystem *subsystems;
	size_t subsystem_count;
	bool has_fields; /* any event, of any subsystem */
};

void schema_fini(struct schema *schema);

/* Each adds one, of which the declaration becomes owned by the schema; it may move the others. */
struct subsystem *schema_add_subsystem(struct schema *schema, struct declaration declaration);
struct event *subsystem_add_event(struct subsystem *subsystem, struct declaration declaration);
struct field *event_add_field(struct event *event, struct declaration declaration);

/* NULL when there is no such type. */
const struct field_type *field_type_find(const char *name, size_t size);
