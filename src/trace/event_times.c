/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/event_times.h"

#include <stddef.h>
#include <string.h>

#include "session/event_kinds.h"

enum field_meaning { MEANS_NOTHING, MEANS_MOMENT, MEANS_DURATION };

/* A field with a time, of 8 bytes. */
struct time_field {
	uint16_t offset_bytes;
	uint16_t meaning;
};

enum { FIELDS_MAX = 3 };

#define MOMENT(type, name)                                \
	{                                                 \
		offsetof(struct type, name), MEANS_MOMENT \
	}
#define DURATION(type, name)                                \
	{                                                   \
		offsetof(struct type, name), MEANS_DURATION \
	}
#define FIELDS(id) [(id) >> 16][(id)&0xffff]

/*
 * Moments are not behind the event itself. Those are left out which are in no account: start_ns of threads tells
 * lives of one tid apart, and what collect.END says of the cost is shown as it is.
 */
/* clang-format off */
static const struct time_field fields[TRACE_NUM_SUBSYSTEMS][EVENTS_MAX][FIELDS_MAX] = {
	FIELDS(EV_SCHED_THROTTLED) = { DURATION(ev_sched_throttled, throttled_ns) },
	FIELDS(EV_SCHED_HIDDEN) = { MOMENT(ev_sched_hidden, begin_ns) },
	FIELDS(EV_THREAD_WAITS) = { MOMENT(ev_thread_waits, begin_ns) },
	FIELDS(EV_COLLECT_RUN) = { DURATION(ev_collect_run, sample_period_ns) },
	FIELDS(EV_COLLECT_END) = { MOMENT(ev_collect_end, ended_ns) },
	FIELDS(EV_SYSTEM_INTERRUPT) = { MOMENT(ev_system_interrupt, begin_ns) },
	FIELDS(EV_SYSTEM_SOFTIRQ) = { MOMENT(ev_system_softirq, begin_ns) },
	FIELDS(EV_SYSTEM_RECEIVE) = { MOMENT(ev_system_receive, begin_ns) },
	FIELDS(EV_KLOCK_WAIT) = { MOMENT(ev_klock_wait, begin_ns) },
	FIELDS(EV_KLOCK_HELD) = {
		DURATION(ev_klock_held, take_ns), DURATION(ev_klock_held, hold_ns),
		DURATION(ev_klock_held, max_hold_ns),
	},
};
/* clang-format on */

static uint64_t bounded(uint64_t value, enum field_meaning meaning, uint64_t time_ns)
{
	if (meaning == MEANS_DURATION)
		return value < TRACE_LENGTH_MAX_NS ? value : TRACE_LENGTH_MAX_NS;
	if (value > time_ns)
		return time_ns;
	/* 0: it is not known, which says nothing of a time. */
	return value && time_ns - value > TRACE_LENGTH_MAX_NS ? time_ns - TRACE_LENGTH_MAX_NS : value;
}

static bool bound_field(struct ev_header *event, const struct time_field *field)
{
	char *at = (char *)event + field->offset_bytes;
	uint64_t value, right;

	memcpy(&value, at, sizeof(value));
	right = bounded(value, field->meaning, event->time_ns);
	memcpy(at, &right, sizeof(right));
	return right == value;
}

bool event_times_bound(struct ev_header *event, uint64_t first_ns, uint64_t last_ns, struct bad_times *bad)
{
	const struct time_field *field = fields[event->subsys][event->event];
	bool is_right = true;

	if (event->time_ns < first_ns || event->time_ns > last_ns) {
		bad->left_out++;
		return false;
	}
	for (int i = 0; i < FIELDS_MAX && field[i].meaning; i++)
		is_right &= bound_field(event, &field[i]);
	bad->changed += !is_right;
	return true;
}
