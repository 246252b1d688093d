/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches and triggers of a process, from outside. All is written by pwrite(2) into the area's file: the process may
 * truncate it. fd: readable and writable, of a file in which area_open() finds an area. Each call returns 0; -EBADMSG: the
 * area is not sound; or another negative errno.
 *
 * Changes of triggers are requests (pinchtrace_format.h), which the process carries out at its next event, before that is
 * recorded. The last one counts. -EBUSY: somebody else makes one all the time.
 *
 * Two who switch one subsystem in the same microsecond, one of them here: one of them is not heeded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pinchtrace_format.h"

struct area_triggers {
	uint32_t start, stop; /* subsystem | event << 16; PINCHTRACE_NO_EVENT: none */
	uint64_t duration_ns; /* 0: without a limit */
	uint64_t count;       /* of events, INT64_MAX at most; 0: without a limit */
	uint32_t mode;        /* PINCHTRACE_MODE_X */
};

/* As trace_set_triggers(), trace_clear_triggers(). */
int area_control_set(int fd, const struct area_triggers *triggers);
int area_control_clear(int fd);

/*
 * As if the start event had come, or the stop event. Without triggers, tracing is stopped from then on; and starts again,
 * without limits.
 */
int area_control_start(int fd);
int area_control_stop(int fd);

/* Of one subsystem, below 65535; of all. */
int area_control_switch(int fd, uint16_t subsystem, bool is_on);
int area_control_switch_all(int fd, bool is_on);

/*
 * A scope that has a client takes the events until that moment (clock_ns()): trace_flush() leaves them to it. It says
 * so anew before that is over; 0 ends it.
 */
int area_control_scope(int fd, uint64_t until_ns);

struct area_control {
	uint32_t phase; /* PINCHTRACE_PHASE_X */
	struct area_triggers triggers;
	uint64_t start_count;
	unsigned char switches[PINCHTRACE_SUBSYSTEMS]; /* PINCHTRACE_ON_X */
};

/* What there is; of a request, what it says. fd: readable. */
int area_control_read(int fd, struct area_control *control);
