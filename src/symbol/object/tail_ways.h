/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways on which jumps lead from one function to another, and what all of them have in common. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAIL_STEPS_MAX = 8 };

/* A function that was entered, and left by a jump. */
struct tail_step {
	uint64_t start;
	const char *name; /* as linked; NULL: it has none */
	uint64_t jump;    /* the address of the jump; 0: one of several */
};

struct tail_ways {
	struct tail_step first[TAIL_STEPS_MAX]; /* the way that was added first */
	size_t count;                           /* of its steps; 0: there is no way */
	size_t shortest;
	size_t prefix, suffix; /* how many steps at their begin and their end all ways have in common */
};

/* Adds a way of 1 to TAIL_STEPS_MAX steps. */
void tail_ways_add(struct tail_ways *ways, const struct tail_step *steps, size_t count);

/*
 * The steps that are certain, in their order: those that all ways have in common; returns how many. open: ways of
 * which only the begin is known.
 */
size_t tail_ways_common(const struct tail_ways *ways, const struct tail_ways *open,
			struct tail_step common[TAIL_STEPS_MAX]);
