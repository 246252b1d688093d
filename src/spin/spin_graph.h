/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions can follow which, around one that a thread was seen at, and the loops that
 * hold it. Loops are natural ones: of a jump back to an instruction, all that leads to the jump
 * without passing that instruction (Aho, Lam, Sethi, Ullman: Compilers, 2nd edition, 9.6.6).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spin/spin_step.h"

enum { SPIN_STEPS_MAX = 96, SPIN_LOOPS_MAX = 32 };

/* Of the steps of a graph, by number. */
typedef unsigned __int128 spin_set;

#define SPIN_BIT(i) ((spin_set)1 << (i))

enum { SPIN_UNEXPLORED = -2 };
enum { SPIN_BEHIND = 1, SPIN_AT_TARGET = 2 }; /* ways to go on, as bits */

struct spin_graph {
	struct spin_step steps[SPIN_STEPS_MAX]; /* the first is the one that was asked for */
	int16_t behind[SPIN_STEPS_MAX];         /* what follows; -1: nothing; or SPIN_UNEXPLORED */
	int16_t target[SPIN_STEPS_MAX];
	int16_t before[SPIN_STEPS_MAX]; /* the step from which it was seen */
	size_t count;
};

/* What has to be known about a code to explore it. */
struct spin_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

struct spin_body {
	spin_set steps;
	int head;
};

/*
 * The steps that can be reached from ip, those with the fewest steps between first. False when ip
 * does not lie in the code, or there is no instruction.
 */
bool spin_graph_explore(struct spin_graph *graph, struct spin_decoder *decoder, const struct spin_code *code,
			uint64_t ip);

/* The steps that can be reached from step and from which it can be reached; empty: no way back. */
spin_set spin_graph_cycle(const struct spin_graph *graph, spin_set within, const uint8_t ways[SPIN_STEPS_MAX],
			  int step);

/* Of a cycle, the step with the lowest address: by the habits of compilers, where turns begin. */
int spin_graph_head(const struct spin_graph *graph, spin_set cycle);

/* The way back to the first step that has the fewest steps; empty: there is none. */
spin_set spin_graph_shortest(const struct spin_graph *graph);

/* The loops among the steps of a cycle, the smallest first. */
size_t spin_graph_loops(const struct spin_graph *graph, spin_set cycle, struct spin_body loops[SPIN_LOOPS_MAX]);

/* The steps that follow step, by the ways (bits) that are open. */
static inline spin_set spin_graph_next(const struct spin_graph *graph, int step, uint8_t ways)
{
	spin_set next = 0;

	if (ways & SPIN_BEHIND && graph->behind[step] >= 0)
		next |= SPIN_BIT(graph->behind[step]);
	if (ways & SPIN_AT_TARGET && graph->target[step] >= 0)
		next |= SPIN_BIT(graph->target[step]);
	return next;
}

static inline int spin_set_first(spin_set set)
{
	return (uint64_t)set ? __builtin_ctzll(set) : 64 + __builtin_ctzll(set >> 64);
}

static inline int spin_set_count(spin_set set)
{
	return __builtin_popcountll(set) + __builtin_popcountll(set >> 64);
}
