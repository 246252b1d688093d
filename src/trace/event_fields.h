/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fields of each event are called and where they are, as events/ declares them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum field_kind { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_CHAR };

struct event_field {
	const char *name;
	enum field_kind kind;
	uint32_t width_bytes;  /* of one element */
	uint32_t offset_bytes; /* in the event */
	uint32_t count;        /* of a fixed array; else 0 */
	bool is_flexible;      /* an array that goes on to the end of the event */
};

struct event_fields {
	const char *subsys, *event, *text;
	uint32_t size_bytes; /* up to the flexible array */
	uint32_t count;
	const struct event_field *fields;
};

/* NULL: there is no such event. */
const struct event_fields *event_fields_find(unsigned int subsys, unsigned int event);

/* Where the field is in a well-formed event of its kind, and how many bytes it has there. */
const void *event_field_bytes(const struct event_field *field, const struct ev_header *header, size_t *size_bytes);

/* The element that begins there; of a signed field an int64_t. */
uint64_t event_field_number(const struct event_field *field, const void *element);
