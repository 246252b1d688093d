/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schemas of programs that are read: each is handed out once, as user.SCHEMA, before the first event that it describes. It is
 * named by a hash of its text: programs that have the same one share it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct own_schema;
struct own_schemas;
struct session;

struct own_schemas *own_schemas_new(struct session *session);
void own_schemas_free(struct own_schemas *schemas);

/* Takes a text in, and hands it out if it is new; NULL: it is no schema, or there are too many. */
const struct own_schema *own_schemas_take(struct own_schemas *schemas, const char *text, size_t length);

uint64_t own_schema_name(const struct own_schema *schema);

/* Those that one process has registered. */
struct own_schema_list {
	const struct own_schema **list;
	size_t count, capacity;
	uint32_t found_subsystem; /* that was asked for last, + 1; 0: none */
	uint64_t found;
};

/* schema: NULL adds nothing. */
void own_schema_list_add(struct own_schema_list *list, const struct own_schema *schema);
void own_schema_list_fini(struct own_schema_list *list);

/* The name of the first one that has the subsystem; 0: none has it. */
uint64_t own_schema_list_find(struct own_schema_list *list, uint16_t subsystem);
