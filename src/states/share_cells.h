/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cells of one window of a level, and their form in a chunk: thread by thread, so that a reader finds those of a thread at once.
 * A window says of each thread that lived in it what it did all the time: nothing else has to be read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "states/state.h"

enum {
	SHARE_SHIFT = 20,       /* cells of the lowest level are 2^20 ns wide */
	SHARE_LEVELS = 24,      /* each twice as wide as those of the one below */
	SHARE_WINDOW_SHIFT = 8, /* cells that a chunk covers, as a power of two */
};

/* Instead of a share: the thread does not live then. */
enum { SHARE_ABSENT = SHARES };

/* How much of 2^k ns a thread spent how. */
struct share_cell {
	uint64_t index;      /* its time by its width */
	uint8_t first, last; /* shares that it begins and ends with; or SHARE_ABSENT */
	uint32_t used;       /* a bit for each share that ns has */
	uint64_t ns[SHARES];
};
_Static_assert(SHARES < 32, "a bit for each share");

/* A thread and what it does at the end of a window. */
struct share_living {
	uint32_t thread;
	uint8_t share;
};

struct share_cells {
	struct share_key *keys; /* in the order in which the cells came */
	size_t count, capacity;
	struct text shares; /* of the cells, as a chunk has them */
};

/* The struct begins zeroed. The cells of one thread come in time order; width_ns is that of all cells. */
void share_cells_add(struct share_cells *cells, uint32_t thread, const struct share_cell *cell, uint64_t width_ns);

/*
 * Puts the cells, and the threads among the living ones, [living_count] by their numbers, that have none: these did the same all
 * through the window.
 */
void share_cells_put(struct share_cells *cells, const struct share_living *living, size_t living_count,
		     struct text *out);
void share_cells_clear(struct share_cells *cells);
void share_cells_fini(struct share_cells *cells);
