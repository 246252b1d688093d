/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON: numbers to names and texts and, for events with fields, how to read their bytes. */
#include "emit.h"

#include <inttypes.h>
#include <stdbool.h>

#include "buffer.h"
#include "schema.h"

static void add_string(struct buffer *out, const char *text)
{
	buffer_add_char(out, '"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			buffer_printf(out, "\\%c", c);
		else if (c == '\n')
			buffer_add_text(out, "\\n");
		else if (c == '\t')
			buffer_add_text(out, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buffer_printf(out, "\\u%04x", c);
		else
			buffer_add_char(out, c);
	}
	buffer_add_char(out, '"');
}

/* Ends the line of one of several members. */
static void add_line_end(struct buffer *out, bool is_last)
{
	buffer_add_text(out, is_last ? "\n" : ",\n");
}

static void add_length(struct buffer *out, const struct event *event, const struct field *field)
{
	size_t i;

	if (!field->length_field_count)
		return;
	buffer_add_text(out, ", \"length\": [");
	for (i = 0; i < field->length_field_count; i++)
		buffer_printf(out, "%s\"%s\"", i ? ", " : "", event->fields[field->length_fields[i]].declaration.name);
	buffer_add_text(out, "]");
}

static void add_strings_note(struct buffer *out, const struct event *event, const struct field *field)
{
	switch (field->strings) {
	case STRINGS_NONE:
		break;
	case STRINGS_ANY:
		buffer_add_text(out, ", \"strings\": true");
		break;
	case STRINGS_COUNT:
		buffer_printf(out, ", \"strings\": %" PRIu32, field->string_count);
		break;
	case STRINGS_BY_FIELD:
		buffer_printf(out, ", \"strings\": \"%s\"", event->fields[field->string_count].declaration.name);
		break;
	}
}

static void add_meaning(struct buffer *out, const struct field *field)
{
	static const char *const roles[] = {
		[ROLE_REFERS] = "means",
		[ROLE_NAMES] = "names",
		[ROLE_ABOUT] = "about",
	};

	if (field->meaning)
		buffer_printf(out, ", \"%s\": \"%s\"", roles[field->role], field->meaning);
}

static void add_field(struct buffer *out, const struct event *event, const struct field *field)
{
	buffer_printf(out, "          { \"name\": \"%s\", \"type\": \"%s\", \"offset\": %" PRIu64,
		      field->declaration.name, field->type->name, field->offset);
	if (field->count)
		buffer_printf(out, ", \"count\": %" PRIu32, field->count);
	if (field->is_flexible)
		buffer_add_text(out, ", \"flexible\": true");
	add_length(out, event, field);
	add_strings_note(out, event, field);
	add_meaning(out, field);
	buffer_add_text(out, " }");
}

static void add_event(struct buffer *out, const struct event *event, bool has_names)
{
	size_t i;

	if (!has_names) {
		add_string(out, event->text);
		return;
	}
	buffer_printf(out, "{\n        \"name\": \"%s\",\n        \"text\": ", event->declaration.name);
	add_string(out, event->text);
	buffer_printf(out, ",\n        \"size\": %" PRIu64 ",\n        \"fields\": [", event->size);
	if (event->field_count)
		buffer_add_char(out, '\n');
	for (i = 0; i < event->field_count; i++) {
		add_field(out, event, &event->fields[i]);
		add_line_end(out, i + 1 == event->field_count);
	}
	buffer_add_text(out, event->field_count ? "        ]\n      }" : "]\n      }");
}

static void add_subsystem(struct buffer *out, const struct subsystem *subsystem, bool has_names)
{
	size_t i;

	buffer_printf(out, "{\n    \"name\": \"%s\",\n    \"events\": {", subsystem->declaration.name);
	if (subsystem->event_count)
		buffer_add_char(out, '\n');
	for (i = 0; i < subsystem->event_count; i++) {
		buffer_printf(out, "      \"%zu\": ", i);
		add_event(out, &subsystem->events[i], has_names);
		add_line_end(out, i + 1 == subsystem->event_count);
	}
	buffer_add_text(out, subsystem->event_count ? "    }\n  }" : "}\n  }");
}

static void emit(const struct schema *schema, bool has_names, struct buffer *out)
{
	size_t i;

	buffer_add_text(out, schema->subsystem_count ? "{\n" : "{");
	for (i = 0; i < schema->subsystem_count; i++) {
		buffer_printf(out, "  \"%zu\": ", i);
		add_subsystem(out, &schema->subsystems[i], has_names);
		add_line_end(out, i + 1 == schema->subsystem_count);
	}
	buffer_add_text(out, "}\n");
}

void emit_json(const struct schema *schema, struct buffer *out)
{
	emit(schema, schema->has_fields, out);
}

void emit_json_names(const struct schema *schema, struct buffer *out)
{
	emit(schema, true, out);
}
