/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tiles (tile.h) of executions whose time counts from their beginning: of one execution, or of several together, each from its own
 * beginning. They lie side by side from 0 on. What they say adds up to what features_of_states() says of the executions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "spans/features.h"

struct states;
struct text;

/* An execution; its parts lie behind its beginning, CLOCK_MONOTONIC. All is borrowed. */
struct aligned_row {
	uint64_t begin_ns;
	const struct execution_part *parts;
	size_t part_count;
};

/* The tile of this number of all rows together: changes, if it is one row that has few of them, else shares. shift: as in tile.h. */
void aligned_tile_put(struct states *states, const struct aligned_row *rows, size_t count, unsigned int shift,
		      uint64_t index, struct text *out);

/* Adds how much of [from_ns, to_ns) since its beginning an execution spent how, by state_share(). */
void aligned_add_shares(struct states *states, const struct aligned_row *row, uint64_t from_ns, uint64_t to_ns,
			uint64_t ns[SHARES]);
