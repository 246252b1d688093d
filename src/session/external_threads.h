/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * External threads (--system): who gives an account of the target leaves them
 * out, here, and so it is the same as without them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "values.h"

static inline bool thread_is_external(uint32_t number)
{
	return number & THREAD_EXTERNAL;
}

static inline bool thread_is_traced(uint32_t number)
{
	return number && !thread_is_external(number);
}

/* The event as it would be recorded if only the target were: e, or what is put into buffer. */
const struct ev_sched_switch *switch_of_target(const struct ev_sched_switch *e, struct ev_sched_switch *buffer);
const struct ev_sched_wake *wake_of_target(const struct ev_sched_wake *e, struct ev_sched_wake *buffer);
