/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the threads of lanes spent a stretch of time, to the nanosecond. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lanes;
struct part_choice;
struct states_pause;
struct text;
struct trace_states;

/* All are borrowed. */
struct stretch_question {
	const struct trace_states *all;
	const struct lanes *lanes;
	const uint32_t *ids; /* [count] of lanes */
	size_t count;
	uint64_t from_ns, to_ns;          /* CLOCK_MONOTONIC; to_ns is not in it */
	struct part_choice *choice;       /* of what it chooses alone; NULL: of all */
	const struct states_pause *pause; /* NULL: there is none */
};

void stretch_put_json(struct text *out, const struct stretch_question *question);
