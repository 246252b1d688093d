/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of events that a trace says it has, as plecoc(1) describes them in its information: perhaps those of
 * another version of this program, or of others. It may be an enemy's word: what does not fit together is left out.
 */
#pragma once

#include <stddef.h>

#include "session/event_kinds.h"

struct trace_reader;
struct trace_schema;

/* Of a trace's information; NULL: the text has no such description. */
struct trace_schema *trace_schema_parse(const char *json, size_t size_bytes);

/*
 * What plecoc(1) writes, alone. An event that has a text and no name is called by the text, if that is a name, or by its
 * number. NULL: the text is no such description.
 */
struct trace_schema *trace_schema_parse_plecoc(const char *json, size_t size_bytes);

/* That of a trace; NULL: it has none that can be read. */
struct trace_schema *trace_schema_read(struct trace_reader *reader);

void trace_schema_free(struct trace_schema *schema);

/*
 * What an event with a fixed part of at most size_bytes is; NULL: the schema does not know one that fits. The schema
 * may be NULL. Borrowed from the schema.
 */
const struct event_kind *trace_schema_find(const struct trace_schema *schema, unsigned int subsys, unsigned int event,
					   size_t size_bytes);

/* Whether it describes any event of that subsystem; its name, NULL: it does not. */
const char *trace_schema_subsystem(const struct trace_schema *schema, unsigned int subsys);

/* Walks the kinds of events in no particular order, with *cursor = 0; NULL ends. subsys and event get its numbers. */
const struct event_kind *trace_schema_next(const struct trace_schema *schema, size_t *cursor, unsigned int *subsys,
					   unsigned int *event);
