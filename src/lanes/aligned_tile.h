/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tiles (tile.h) of executions whose time counts from their beginning: of one execution, or of several together, each from its own
 * beginning. They lie side by side from 0 on. What they say adds up to what features_of_states() says of the executions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spans/features.h"

struct states;
struct text;

/* A state of an execution, since its beginning. */
struct aligned_slice {
	uint64_t begin_ns, end_ns;
	uint32_t share;
};

/* Those of executions, one behind the other. The caller owns the array. */
struct aligned_slices {
	struct aligned_slice *list;
	size_t count, capacity;
};

/*
 * An execution: its states in time order, if they were kept; else its parts, which lie behind its beginning, CLOCK_MONOTONIC. All is
 * borrowed.
 */
struct aligned_row {
	uint64_t begin_ns;
	const struct aligned_slice *slices; /* NULL: they are looked up */
	size_t slice_count;
	const struct execution_part *parts;
	size_t part_count;
};

/* Adds the states of a row, of which its parts are given, and how many they are. False: the array would have more than max; it is as it was. */
bool aligned_slices_add(struct states *states, const struct aligned_row *row, size_t max, struct aligned_slices *out,
			size_t *count);

/* The tile of this number of all rows together: changes, if it is one row that has few of them, else shares. shift: as in tile.h. */
void aligned_tile_put(struct states *states, const struct aligned_row *rows, size_t count, unsigned int shift,
		      uint64_t index, struct text *out);

/* Adds how much of [from_ns, to_ns) since its beginning an execution spent how, by state_share(). */
void aligned_add_shares(struct states *states, const struct aligned_row *row, uint64_t from_ns, uint64_t to_ns,
			uint64_t ns[SHARES]);
