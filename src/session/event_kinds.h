/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events there are, what their fields are called, where they lie and what they mean: all of it as events/
 * declares it and plecoc(1) writes it down. Owns the table of the kinds that this pinch knows; a trace has one of
 * its own (trace/trace_schema.h). Any folder may ask.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum {
	EVENTS_MAX = 32, /* of one subsystem */
	LENGTH_FIELDS_MAX = 4,
};

enum field_kind { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_CHAR };

/* Whether an array is of strings with a NUL after each, and how many these are. */
enum field_strings { STRINGS_NONE, STRINGS_ANY, STRINGS_COUNT, STRINGS_BY_FIELD };

enum field_meaning {
	MEANS_NOTHING,
	MEANS_THREAD,   /* the number of a thread; 0: none */
	MEANS_TID,      /* the id of a thread that may not be traced: thread.OTHER; 0: none */
	MEANS_PROCESS,  /* the id of a process: an address space */
	MEANS_STACK,    /* stack.FRAMES; 0: none */
	MEANS_FILE,     /* file.PATH or file.SOCKET; 0: none */
	MEANS_KLOCK,    /* klock.LOCK */
	MEANS_MOMENT,   /* ns of CLOCK_MONOTONIC, not behind the event itself; 0: unknown */
	MEANS_DURATION, /* ns, of something that is in an account */
	MEANS_SCHEMA,   /* user.SCHEMA; 0: none */
};

/* What a field has to do with what it means. */
enum field_role {
	ROLE_REFERS,
	ROLE_NAMES, /* the event says what it is */
	ROLE_ABOUT, /* the event is about it, besides the thread in its header */
};

struct event_field {
	const char *name;
	enum field_kind kind;
	uint32_t width_bytes;  /* of one element */
	uint32_t offset_bytes; /* in the event; of flexible arrays, which lie one after the other: of the first one */
	uint32_t count;        /* of a fixed array; else 0 */
	bool is_flexible;      /* an array whose length the event says */
	uint32_t length_field_count;
	uint32_t length_fields[LENGTH_FIELDS_MAX]; /* numbers of fields whose sum is the length in elements */
	enum field_strings strings;
	uint32_t string_count; /* or the number of the field that has the count */
	enum field_meaning meaning;
	enum field_role role;
};

struct event_kind {
	const char *subsys, *event, *text;
	uint32_t size_bytes; /* up to the flexible arrays */
	bool is_flexible;    /* its last field is: events of the kind have bytes behind their fixed part */
	uint32_t meanings;   /* 1 << MEANS_X for each that a field has */
	uint32_t field_count;
	const struct event_field *fields;
	/* Of the kinds that this pinch knows; of others none: what is asked of each event that is read. */
	uint32_t about_thread_offset; /* of the field with that role and meaning, a uint32_t; 0: there is none */
	uint32_t time_field_count;
	const uint32_t *time_fields; /* numbers of the fields that mean a moment or a duration */
};

extern const struct event_kind event_kinds[TRACE_NUM_SUBSYSTEMS][EVENTS_MAX];

/* NULL: there is none. */
static inline const struct event_kind *event_kind_find(unsigned int subsys, unsigned int event)
{
	if (subsys >= TRACE_NUM_SUBSYSTEMS || event >= EVENTS_MAX || !event_kinds[subsys][event].size_bytes)
		return NULL;
	return &event_kinds[subsys][event];
}

/* Whether it is of a known kind and has the size that it says; it need not be aligned. */
bool event_is_well_formed(const void *event, size_t size_bytes);

/* The size of a well-formed event. */
size_t event_bytes(const struct ev_header *header);

/* The other one of the two threads that some events are about; else the only one. */
uint32_t event_other_thread(const struct ev_header *header);

/* The process that an event is about; 0: none is said. */
uint32_t event_process(const struct ev_header *header);

/* The first field with this meaning and role; NULL: there is none. */
const struct event_field *event_field_meaning(const struct event_kind *kind, enum field_meaning meaning,
					      enum field_role role);

/* The element of a field that begins there, which need not be aligned; of a signed field an int64_t. */
uint64_t event_field_number(const struct event_field *field, const void *element);

/* Goes over the fields of an event, one after the other. */
struct event_fields {
	const struct event_kind *kind;
	const char *event;
	size_t size_bytes; /* of the event; SIZE_MAX: it is well-formed */
	size_t at;         /* where the next flexible array begins */
	uint32_t next;
};

/* size_bytes: at least kind->size_bytes. The event and its kind are borrowed. */
struct event_fields event_fields_of(const struct event_kind *kind, const void *event, size_t size_bytes);

/*
 * The next field, where it lies and its size; of a flexible array that is more than the event has, what it has of
 * it. False: there is none.
 */
bool event_fields_next(struct event_fields *fields, const struct event_field **field, const void **bytes,
		       size_t *size_bytes);
