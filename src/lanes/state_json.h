/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread did at a time, why, and who or what ended it: all that the viewer tells of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct graph_labels;
struct lanes;
struct state;
struct state_value;
struct text;
struct trace_states;

/* time_ns: CLOCK_MONOTONIC. 0; -ENOENT: the thread did not live then. */
int state_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes,
		   struct graph_labels *labels, uint32_t thread, uint64_t time_ns);

/* What a wait is called by: if no call path of it was recorded, *is_of_another says that it is one of another wait for the same. */
struct graph_wait state_wait(const struct trace_states *all, const struct lanes *lanes, uint32_t thread,
			     const struct state *state, bool *is_of_another);

/* "worker-1 (tid 4711)", as long as the labels live. */
const char *state_who(struct graph_labels *labels, uint32_t thread);

/* Who ended a wait, or what: "worker-1 (tid 4711)", "disk"; NULL: nobody is known. */
const char *state_ended_by(struct graph_labels *labels, const struct state_value *ended);
