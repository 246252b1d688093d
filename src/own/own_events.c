/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "own/own_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "trace/trace_reader.h"
#include "trace/trace_schema.h"

enum {
	SCHEMAS_MAX = 4096,
	TEXT_BYTES_MAX = 64 << 20, /* of all schemas */
};

struct own_events {
	struct table *schemas; /* struct trace_schema, by their hash */
	size_t text_bytes;
	uint64_t *stored; /* an event as its kind has it */
	size_t stored_capacity;
};

struct own_events *own_events_new(void)
{
	struct own_events *own = xcalloc(1, sizeof(*own));

	own->schemas = table_new();
	return own;
}

void own_events_free(struct own_events *own)
{
	struct trace_schema *schema;
	size_t cursor = 0;

	if (!own)
		return;
	while ((schema = table_next(own->schemas, &cursor)))
		trace_schema_free(schema);
	table_free(own->schemas);
	free(own->stored);
	free(own);
}

void own_events_take(struct own_events *own, const struct ev_user_schema *e)
{
	struct trace_schema *schema;

	if (!e->schema || table_find(own->schemas, e->schema) || table_count(own->schemas) == SCHEMAS_MAX ||
	    e->text_bytes > TEXT_BYTES_MAX - own->text_bytes)
		return;
	schema = trace_schema_parse_plecoc(e->text, strnlen(e->text, e->text_bytes));
	if (!schema)
		return;
	own->text_bytes += e->text_bytes;
	table_put(own->schemas, e->schema, schema);
}

static void on_schema(void *data, const struct ev_header *header)
{
	own_events_take(data, (const struct ev_user_schema *)header);
}

void own_events_subscribe(struct own_events *own, struct session *session)
{
	static const struct event_handler handlers[] = { { EV_USER_SCHEMA, on_schema }, { 0, NULL } };

	session_subscribe(session, handlers, own);
}

void own_events_read(struct own_events *own, struct trace_reader *reader)
{
	const struct ev_header *header;
	int got;

	trace_reader_choose_schemas(reader, true);
	while ((got = trace_reader_next(reader, &header)) == 1 || got == -EBADMSG)
		if (got == 1 && header->subsys == TRACE_SUBSYS_USER && header->event == TRACE_EVENT_USER_SCHEMA)
			on_schema(own, header);
	trace_reader_choose_schemas(reader, false);
	trace_reader_seek(reader, 0);
}

static void store(struct own_events *own, const struct ev_user_event *e, struct own_event *out)
{
	struct ev_header header = e->header;

	out->stored_bytes = sizeof(header) + e->payload_bytes;
	if (out->stored_bytes > own->stored_capacity) {
		own->stored_capacity = 2 * out->stored_bytes;
		own->stored = xrealloc(own->stored, own->stored_capacity, 1);
	}
	header.subsys = e->subsystem;
	header.event = e->event;
	memcpy(own->stored, &header, sizeof(header));
	memcpy((char *)own->stored + sizeof(header), e->payload, e->payload_bytes);
	out->stored = (const struct ev_header *)own->stored;
}

void own_events_find(struct own_events *own, const struct ev_user_event *e, struct own_event *out)
{
	const struct trace_schema *schema = table_find(own->schemas, e->schema);

	*out = (struct own_event){ .argument = e->argument };
	store(own, e, out);
	if (!schema)
		return;
	out->subsystem = trace_schema_subsystem(schema, e->subsystem);
	out->kind = trace_schema_find(schema, e->subsystem, e->event, out->stored_bytes);
}
