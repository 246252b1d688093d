/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_reader.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/trace_open.h"
#include "own/own_events.h"
#include "rows/event_line.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"
#include "trace/trace_schema.h"

struct row_reader {
	struct trace_reader *trace;
	struct trace_schema *schema; /* NULL: the trace has none */
	struct own_events *own_events;
	struct own_event own; /* the last one */
	uint64_t undescribed_count;
};

int row_reader_open(const char *path, struct row_reader **out)
{
	struct trace_reader *trace;
	struct row_reader *reader;
	int err = trace_open(path, &trace);

	if (err)
		return err;
	reader = xcalloc(1, sizeof(*reader));
	reader->trace = trace;
	reader->schema = trace_schema_read(trace);
	reader->own_events = own_events_new();
	own_events_read(reader->own_events, trace);
	*out = reader;
	return 0;
}

void row_reader_close(struct row_reader *reader)
{
	if (!reader)
		return;
	own_events_free(reader->own_events);
	trace_schema_free(reader->schema);
	trace_reader_close(reader->trace);
	free(reader);
}

struct trace_reader *row_reader_trace(const struct row_reader *reader)
{
	return reader->trace;
}

/* As the trace describes it; what it does not describe is as this version has it. NULL: nobody knows it. */
static const struct event_kind *kind_of(const struct row_reader *reader, const struct ev_header *header,
					size_t size_bytes)
{
	const struct event_kind *kind = trace_schema_find(reader->schema, header->subsys, header->event, size_bytes);

	if (kind)
		return kind;
	kind = event_kind_find(header->subsys, header->event);
	return kind && kind->size_bytes <= size_bytes ? kind : NULL;
}

/* What a program's own event is in its own words, if anything says so. */
static void find_own(struct row_reader *reader, struct event_line *line)
{
	const struct ev_header *known = trace_reader_known(reader->trace);

	if (!known || known->subsys != TRACE_SUBSYS_USER || known->event != TRACE_EVENT_USER_EVENT)
		return;
	own_events_find(reader->own_events, (const struct ev_user_event *)known, &reader->own);
	if (!reader->own.kind)
		return;
	line->kind = reader->own.kind;
	line->header = reader->own.stored;
	line->size_bytes = reader->own.stored_bytes;
	line->argument = &reader->own.argument;
}

int row_reader_next(struct row_reader *reader, struct event_line *line)
{
	const struct ev_header *header;
	size_t size_bytes;
	int got;

	while ((got = trace_reader_next_stored(reader->trace, &header, &size_bytes)) == 1) {
		*line = (struct event_line){
			.kind = kind_of(reader, header, size_bytes),
			.header = header,
			.size_bytes = size_bytes,
			.first_ns = trace_reader_extent(reader->trace)->first_ns,
			.cpu = -1,
		};
		if (line->kind) {
			find_own(reader, line);
			break;
		}
		reader->undescribed_count++;
	}
	return got;
}

uint64_t row_reader_undescribed(const struct row_reader *reader)
{
	return reader->undescribed_count;
}
