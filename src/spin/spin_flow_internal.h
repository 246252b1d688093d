/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of spin_flow share: its state while it goes round a loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spin/spin_flow.h"
#include "spin/spin_graph.h"
#include "spin/spin_step.h"
#include "spin/spin_value.h"

enum {
	SPIN_SLOTS_MAX = 40,
	SPIN_LOCATIONS_MAX = SPIN_SLOTS + SPIN_SLOTS_MAX,
	SPIN_WORDS_MAX = 64,
};

_Static_assert((int)SPIN_LOCATIONS_MAX <= 64, "they are bits of a word");

struct spin_state {
	struct spin_value at[SPIN_LOCATIONS_MAX];
};

/* A variable on the stack. */
struct spin_slot {
	int64_t offset; /* from the base */
	uint8_t base;   /* rsp or rbp */
	uint8_t bytes;
};

/* Some other memory, named by what its address is made of. */
struct spin_word {
	uint16_t base, index; /* symbols */
	uint8_t scale, segment;
	int64_t offset;
};

/* Where a step accesses memory. */
struct spin_access {
	struct spin_value address;
	int slot, word; /* -1: none, or not known */
};

struct spin_flow {
	const struct spin_graph *graph;
	struct spin_body body;
	struct spin_facts facts;
	struct spin_slot slots[SPIN_SLOTS_MAX];
	struct spin_word words[SPIN_WORDS_MAX];
	int slot_count, word_count;
	int location_count; /* of registers and slots */
	bool has_frame;     /* rbp points to the function's frame */
	bool is_lost;       /* something is beyond what can be followed */

	spin_set joins;     /* steps that more than one other leads to, and the head */
	spin_set has_state; /* where walks begin: in[] is set */
	struct spin_state in[SPIN_STEPS_MAX];
	struct spin_state head, out; /* where a turn begins, and ends */
	bool has_out;
	int steps_gone;

	spin_set branches, accesses; /* condition[] and address[] are set */
	struct spin_value condition[SPIN_STEPS_MAX], address[SPIN_STEPS_MAX];
	uint64_t counters;          /* locations, as bits, that are counted up or down */
	uint64_t counted, computed; /* those that depend on these, and on others */
	bool has_states;            /* a turn sets what the next one takes its way by */
};

/* --- spin_memory.c --------------------------------------------------------------------------- */

/* Finds the variables on the stack that some steps access. */
void spin_memory_begin(struct spin_flow *flow, spin_set steps);

struct spin_access spin_memory_find(struct spin_flow *flow, const struct spin_state *state, int step);

struct spin_value spin_memory_read(const struct spin_state *state, const struct spin_access *access, int step);

/* --- spin_effect.c --------------------------------------------------------------------------- */

/*
 * Lets a step change the state, and notes what it does and how it can go on. Returns the ways that it
 * can from this state.
 */
uint8_t spin_effect_apply(struct spin_flow *flow, struct spin_state *state, int step);
