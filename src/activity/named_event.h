/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event by names instead of numbers: the kernel's and a program's own alike. Filters, decoders of activities and scripts see
 * events in this form only.
 *
 * Owns: events by names, filters of them, what an activity is, and what a script language has to offer.
 * Used by: activity/lua, activity/decode, findings/parts, options, query, lanes, rows, export, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/event_context.h"
#include "session/event_kinds.h"

/* Borrowed from whoever delivers the event: valid until its handler returns. */
struct named_event {
	const struct event_context *context;
	uint64_t time_ns;              /* CLOCK_MONOTONIC */
	uint64_t first_ns;             /* of the first event of the trace */
	const char *subsystem, *event; /* "sched", "SWITCH"; as whoever declared them writes them */
	const char *text;              /* what the event means; NULL: nothing describes it */
	bool is_own;                   /* of a program */
	uint32_t argument;             /* of a program's event; else 0 */
	uint32_t thread, other_thread; /* numbers; other_thread: the other one that it is about, else thread */
	/* Its fields, laid out as kind says. */
	const struct event_kind *kind;
	const struct ev_header *stored;
	size_t stored_bytes;
};

/* An event that is laid out as kind says, with at least kind->size_bytes. */
struct named_event named_event_of(const struct event_context *context, const struct event_kind *kind,
				  const struct ev_header *stored, size_t stored_bytes, uint64_t first_ns);

/* It is one of a program's own. */
void named_event_set_own(struct named_event *event, uint32_t argument);

/* Whether the event itself says where it happened. */
bool named_event_says_cpu(const struct named_event *event, uint32_t *cpu);

/* The number of the thread on whose CPU it happened if it does not. */
uint32_t named_event_runner(const struct named_event *event);

/* Where it happened; CPU_UNKNOWN. */
uint32_t named_event_cpu(const struct named_event *event);

/* Whose it is: the thread that has it, or else the other one. NULL: none is known. */
const struct thread *named_event_thread(const struct named_event *event);

/* Where that thread runs; empty: there is only one host, or it is not known. */
const char *named_event_host(const struct named_event *event);

/* Whether that is its name: "sched.SWITCH", or "SWITCH" of any subsystem. */
bool named_event_is(const struct named_event *event, const char *name);

/* The field with this name, where it lies and its size. False: the event has none. */
bool named_event_field(const struct named_event *event, const char *name, const struct event_field **field,
		       const void **bytes, size_t *size_bytes);
