/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All waits of a stretch of time that are for the same as a given one, or are called alike where nobody knows what they are for. */
#pragma once

#include <stdint.h>

struct graph_labels;
struct lanes;
struct text;
struct trace_states;

/* What is asked for; times are CLOCK_MONOTONIC. */
struct alike_question {
	uint32_t thread;
	uint64_t time_ns;        /* when it waits as the others do */
	uint64_t from_ns, to_ns; /* the stretch in which they begin */
	uint64_t budget_ns;      /* after about so long the answer ends earlier, and says so */
};

/* 0; -ENOENT: the thread did not wait then. */
int alike_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes,
		   struct graph_labels *labels, const struct alike_question *question);
