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
	LENGTH_FIELDS_MAX = 4,
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

/* Whether an array is of strings with a NUL after each, and how many these are. */
enum strings { STRINGS_NONE, STRINGS_ANY, STRINGS_COUNT, STRINGS_BY_FIELD };

/* What a field has to do with what its note names. */
enum role { ROLE_REFERS, ROLE_NAMES, ROLE_ABOUT };

struct field {
	struct declaration declaration;
	const struct field_type *type;
	uint64_t offset; /* of arrays without a fixed length, all at the end: of the first one */
	uint32_t count;  /* of a fixed array; else 0 */
	bool is_flexible;
	size_t length_fields[LENGTH_FIELDS_MAX]; /* numbers in the event: its length is their sum */
	size_t length_field_count;               /* 0: it goes to the end, or as far as its strings */
	enum strings strings;
	uint32_t string_count; /* or the number of the field that has the count */
	char *meaning;         /* NULL: no note says */
	enum role role;
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
