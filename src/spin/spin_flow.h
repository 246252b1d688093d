/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a loop changes from one turn to the next, were it alone: found by going round it with
 * symbols for values, in the manner of a constant propagation over a flow graph (Kildall 1973).
 * A value is steady when it is the same in each turn as long as nobody else writes to memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spin/spin_graph.h"

struct spin_flow;

struct spin_facts {
	uint8_t ways[SPIN_STEPS_MAX];  /* how a step goes on where memory has not changed */
	spin_set visited;              /* the steps of such turns, */
	spin_set seen;                 /* and of those that find it changed, too */
	spin_set storing;              /* write to memory but the function's own variables */
	spin_set attempts;             /* atomic, and may change a word */
	spin_set advancing;            /* of them: change it each time, as lock inc does */
	spin_set wandering;            /* access memory at an address that is not steady */
	spin_set reading;              /* access memory but the function's own variables */
	spin_set waiting;              /* branches on a steady value that comes from memory, */
	spin_set polling;              /* from such memory */
	uint8_t reads[SPIN_STEPS_MAX]; /* of such a branch: the step that read the memory */
	spin_set with_word;            /* steps whose memory operand has a constant address, */
	uint64_t word[SPIN_STEPS_MAX]; /* this one */
	/* Registers and variables, as bits, the same ones until spin_flow_begin(): */
	uint64_t counters; /* counted up or down from turn to turn */
	uint64_t carried;  /* depend on what was there a turn ago */
	uint64_t deciding; /* unchanged, and branches depend on no more than them */
	bool computes;     /* some of what is carried are no mere counters */
	bool has_states;   /* some are set to a value that decides in the next turn */
};

struct spin_flow *spin_flow_new(void);
void spin_flow_free(struct spin_flow *flow);

/* What follows is about loops that consist of these steps of a graph, which is borrowed. */
void spin_flow_begin(struct spin_flow *flow, const struct spin_graph *graph, spin_set steps);

/*
 * Valid until the next call. NULL: the loop moves its stack pointer, or uses too many variables to
 * tell.
 */
const struct spin_facts *spin_flow_run(struct spin_flow *flow, const struct spin_body *body);
