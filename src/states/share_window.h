/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window of summaries, unpacked: what each thread spent in each of its cells. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A part of a cell, or of several, which was spent in one way. Parts of one cell are in no order, and lie one behind the other. */
typedef void share_part_fn(void *data, uint64_t begin_ns, uint64_t end_ns, unsigned int share);

struct share_window {
	/* A thread that lived in the window. */
	struct share_life {
		uint32_t thread;
		uint32_t first_cell, cell_count;
		uint8_t share; /* what it did when the window began, or SHARE_ABSENT */
	} * lives;             /* by number */
	size_t life_count, life_capacity;
	/* A cell with a change. */
	struct window_cell {
		uint32_t at; /* of its shares */
		uint8_t share_count, index, last;
	} * cells;
	size_t cell_count, cell_capacity;
	struct window_share {
		uint64_t ns : 56, share : 8;
	} * shares;
	size_t share_count, share_capacity;
};

/* 0, or -EBADMSG: it makes no sense. width_ns: of a cell, which no cell's shares are longer than. The caller frees it. */
int share_window_read(const void *content, size_t size_bytes, uint64_t width_ns, struct share_window *out);
void share_window_fini(struct share_window *window);

/* How much memory it takes. */
size_t share_window_bytes(const struct share_window *window);

/* Cells [from, to) of a thread in a window that begins at window_ns. */
struct share_stretch {
	uint32_t thread, from, to;
	uint64_t window_ns;
	unsigned int shift; /* of a cell's width */
};

void share_window_each(const struct share_window *window, const struct share_stretch *stretch, share_part_fn *on_part,
		       void *data);
