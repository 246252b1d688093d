/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of states that options of a command ask for: --cpu, --spans, --object, and --cause, which part filters do not have. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lanes/part_filter.h"

struct settings;
struct state;

struct asked_parts {
	struct part_filter filter;
	uint32_t causes; /* a bit for each enum wait_cause; 0: any state */
};

/* first_ns: of the first event, CLOCK_MONOTONIC. 0, or -EINVAL after a message. */
int asked_parts_read(const struct settings *settings, uint64_t first_ns, struct asked_parts *out);

/* Whether a state passes --cause. */
bool asked_parts_have_cause(const struct asked_parts *asked, const struct state *state);

/* Whether anything is asked for. */
bool asked_parts_are_set(const struct asked_parts *asked);
