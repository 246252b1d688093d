/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers that all tiles have in common: tile.h says what they mean. */
#pragma once

enum { TILE_COLUMNS_SHIFT = 8, TILE_COLUMNS = 1 << TILE_COLUMNS_SHIFT, TILE_SHIFT_MIN = 8, TILE_SHIFT_MAX = 43 };

/* Begins every tile's kind. */
enum tile_kind {
	TILE_EMPTY,
	TILE_SLICES,
	TILE_SHARES,
};

/* How a slice differs from a state. */
enum { SLICE_BEGINS_BEFORE = 1, SLICE_ENDS_AFTER = 2 };
