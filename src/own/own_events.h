/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of programs' own (user.EVENT), as the schemas that came with them describe them. A schema is a program's word:
 * what does not fit it is not described.
 *
 * Owns: what programs' own events are called, and what their fields are.
 * Used by: collect/probe, activity/decode, spans, options, lanes, rows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct event_kind;
struct own_events;
struct session;
struct trace_reader;

struct own_events *own_events_new(void);
void own_events_free(struct own_events *own);

/* Takes the schemas of a session's stream in, as they come. */
void own_events_subscribe(struct own_events *own, struct session *session);

/* Takes all schemas of a trace in. The reader's next event is its first one, of all chunks. */
void own_events_read(struct own_events *own, struct trace_reader *reader);

/* Takes a schema in; one that is not understood describes nothing. */
void own_events_take(struct own_events *own, const struct ev_user_schema *e);

/* As its schema has it. All is borrowed until the next one is asked for. */
struct own_event {
	const char *subsystem;         /* NULL: nothing names it */
	const struct event_kind *kind; /* NULL: nothing describes the event */
	uint32_t argument;
	/* The event as one of that kind: header and payload; header.subsys and header.event are the schema's numbers. */
	const struct ev_header *stored;
	size_t stored_bytes;
};

void own_events_find(struct own_events *own, const struct ev_user_event *e, struct own_event *out);
