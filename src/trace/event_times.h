/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds of all times that a trace may have, so that no sum, difference or shift of them overflows, and no
 * loop over them runs long, whoever wrote the trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

/* CLOCK_MONOTONIC begins with the machine: 146 years. */
#define TRACE_TIME_MAX_NS (1ull << 62)
/* From the first event of a trace to its last one, and any duration: 2.2 years. */
#define TRACE_LENGTH_MAX_NS (1ull << 56)

struct bad_times {
	uint64_t left_out; /* events at times that their part of the trace does not have */
	uint64_t changed;  /* events with other impossible times, which were corrected */
};

/*
 * Whether the event lies between these two moments; its other times are then brought into their
 * bounds. Counts what was wrong.
 */
bool event_times_bound(struct ev_header *event, uint64_t first_ns, uint64_t last_ns, struct bad_times *bad);
