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

/* NULL: the text is no such description. */
struct trace_schema *trace_schema_parse(const char *json, size_t size_bytes);

/* That of a trace; NULL: it has none that can be read. */
struct trace_schema *trace_schema_read(struct trace_reader *reader);

void trace_schema_free(struct trace_schema *schema);

/*
 * What an event with a fixed part of at most size_bytes is; NULL: the schema does not know one that fits. The schema
 * may be NULL. Borrowed from the schema.
 */
const struct event_kind *trace_schema_find(const struct trace_schema *schema, unsigned int subsys, unsigned int event,
					   size_t size_bytes);
