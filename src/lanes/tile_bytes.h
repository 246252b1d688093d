/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tile while it is made, and its bytes (tile.h): slices, or how much of each column was spent how. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lanes/tile_form.h"
#include "states/state.h"

struct part_choice;
struct states_pause;
struct text;

struct tile {
	struct states *states;
	uint64_t begin_ns, end_ns;
	unsigned int shift;
	struct part_choice *choice; /* NULL: all is chosen */
	const struct states_pause *pause;
};

/* A stretch of time in a tile. */
struct slice {
	uint64_t begin_ns, end_ns;
	uint32_t share, who; /* who: a thread's number, a tid, or 0 */
	bool begins_before, ends_after;
};

enum { SLICES_MAX = 2 * TILE_COLUMNS };

struct slices {
	struct slice list[SLICES_MAX];
	size_t count;
};

/* Clips it. False: there is no more space. */
bool tile_add_slice(struct slices *slices, const struct tile *tile, struct slice slice);
void tile_put_slices(const struct tile *tile, const struct slices *slices, bool is_cpu, struct text *out);

struct column {
	uint64_t ns[SHARES];
};

/* Adds what lies in the tile, to TILE_COLUMNS columns; a stretch may reach over several. */
void tile_add_stretch(const struct tile *tile, struct column *columns, uint64_t begin_ns, uint64_t end_ns,
		      uint32_t share);
void tile_put_columns(const struct column *columns, struct text *out);
bool tile_has_any(const struct column *columns);
