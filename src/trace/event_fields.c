/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/event_fields.h"

#include <string.h>

#include "session/event_kinds.h"

static const struct event_fields table[TRACE_NUM_SUBSYSTEMS][EVENTS_MAX] = {
#include "event_fields.inc"
};

const struct event_fields *event_fields_find(unsigned int subsys, unsigned int event)
{
	if (subsys >= TRACE_NUM_SUBSYSTEMS || event >= EVENTS_MAX || !table[subsys][event].event)
		return NULL;
	return &table[subsys][event];
}

const void *event_field_bytes(const struct event_field *field, const struct ev_header *header, size_t *size_bytes)
{
	if (field->is_flexible)
		*size_bytes = event_bytes(header) - field->offset_bytes;
	else
		*size_bytes = field->width_bytes * (field->count ? field->count : 1);
	return (const char *)header + field->offset_bytes;
}

uint64_t event_field_number(const struct event_field *field, const void *element)
{
	unsigned int unused = 8 * (sizeof(uint64_t) - field->width_bytes);
	uint64_t value = 0;

	memcpy(&value, element, field->width_bytes);
	if (field->kind == FIELD_SIGNED)
		value = (int64_t)(value << unused) >> unused;
	return value;
}
