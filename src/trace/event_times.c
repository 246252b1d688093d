/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/event_times.h"

#include <string.h>

#include "session/event_kinds.h"

static uint64_t bounded(uint64_t value, enum field_meaning meaning, uint64_t time_ns)
{
	if (meaning == MEANS_DURATION)
		return value < TRACE_LENGTH_MAX_NS ? value : TRACE_LENGTH_MAX_NS;
	if (value > time_ns)
		return time_ns;
	/* 0: it is unknown, which says nothing of a time. */
	return value && time_ns - value > TRACE_LENGTH_MAX_NS ? time_ns - TRACE_LENGTH_MAX_NS : value;
}

static bool bound_field(struct ev_header *event, const struct event_field *field)
{
	char *at = (char *)event + field->offset_bytes;
	uint64_t value, right;

	memcpy(&value, at, sizeof(value));
	right = bounded(value, field->meaning, event->time_ns);
	memcpy(at, &right, sizeof(right));
	return right == value;
}

static bool bound_fields(struct ev_header *event)
{
	const struct event_kind *kind = event_kind_find(event->subsys, event->event);
	bool is_right = true;

	for (uint32_t i = 0; i < kind->time_field_count; i++)
		is_right &= bound_field(event, &kind->fields[kind->time_fields[i]]);
	return is_right;
}

bool event_times_bound(struct ev_header *event, uint64_t first_ns, uint64_t last_ns, struct bad_times *bad)
{
	if (event->time_ns < first_ns || event->time_ns > last_ns) {
		bad->left_out++;
		return false;
	}
	bad->changed += !bound_fields(event);
	return true;
}
