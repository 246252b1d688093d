/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tiles: what a lane shows over 256 columns of 2^shift ns each, as the page draws it. They lie side by side from tile_origin_ns() on. A lane
 * of one thread or CPU, with columns below 2^20 ns, has its changes exactly if they are few; another one has how much of each column is
 * spent how. Both add up to the history of states to the nanosecond.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lanes/tile_form.h"

struct lanes;
struct part_choice;
struct states;
struct states_pause;
struct text;

/* A multiple of the widest tile's width, at or before the time: CLOCK_MONOTONIC. */
uint64_t tile_origin_ns(uint64_t first_ns);

struct tile_question {
	struct states *states;
	const struct lanes *lanes;
	const uint32_t *ids; /* [count] places of lanes */
	size_t count;
	unsigned int shift;
	uint64_t index, origin_ns;
	struct part_choice *choice; /* only of what it chooses, which needs all states of the time; NULL: of all */
	const struct states_pause *pause; /* NULL: there is none */
};

/*
 * Puts the tile number index of each of the lanes in varints. First its kind. Slices: how many; each: ns since the end of the one before, or
 * the tile's beginning; its length in ns; its share; SLICE_ bits; with SHARE_RUNNABLE who woke it, by number; of a CPU: CPU_TRACED and a
 * thread's number or CPU_OTHER and a tid. Shares: for so many columns alike: how many, how many shares, for each its number and ns.
 */
void tiles_put(const struct tile_question *question, struct text *out);
