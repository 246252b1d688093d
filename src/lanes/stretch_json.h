/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the threads of lanes spent a stretch of time, to the nanosecond. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lanes;
struct text;
struct trace_states;

/* Of [from_ns, to_ns), CLOCK_MONOTONIC. */
void stretch_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes, const uint32_t *ids,
		      size_t count, uint64_t from_ns, uint64_t to_ns);
