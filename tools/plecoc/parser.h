/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads Pleco sources into a schema, one after the other, and checks all that can make the
 * generated files wrong: what the parser accepts, the emitters emit without a test.
 *
 *	file      = { "subsystem" NAME "{" [ event { "," event } [ "," ] ] "}" [ ";" ] }
 *	event     = "event" NAME STRING [ "{" field { field } "}" ]
 *	field     = TYPE NAME [ "[" [ NUMBER ] "]" ] ";"
 */
#pragma once

#include "name_table.h"

struct buffer;
struct schema;
struct source;

struct parser {
	struct schema *schema;
	struct buffer *messages;
	struct name_table subsystems; /* by name in upper case */
	struct name_table events;     /* by what follows TRACE_EVENT_ in the macro */
};

void parser_init(struct parser *parser, struct schema *schema, struct buffer *messages);
void parser_fini(struct parser *parser);

/* Adds the declarations of a source, which must outlive the schema. Stops at the first error. */
int parser_parse(struct parser *parser, const struct source *source);
