/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a schema compiles to. The schema comes from the parser, which has checked it. */
#pragma once

struct buffer;
struct schema;

/* The header that the BPF programs, the engine and applications share. */
void emit_header(const struct schema *schema, struct buffer *out);

/* The description that travels inside every trace. Where no event has fields, events are their texts alone, as in Pleco's own. */
void emit_json(const struct schema *schema, struct buffer *out);

/* The same with the name of each event in any case. */
void emit_json_names(const struct schema *schema, struct buffer *out);

/* What a program that reads the fields of any event is compiled with. */
void emit_table(const struct schema *schema, struct buffer *out);
