/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_cells.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

struct share_key {
	uint32_t thread;
	uint8_t index, first, last; /* index: in the window */
	uint32_t at, end;           /* of its shares */
};

/* How many shares and whether they fill the cell; each with its ns, of which a full cell's last one follows from the others. */
static void put_shares(struct text *out, const struct share_cell *cell, uint64_t width_ns)
{
	uint64_t left_ns = width_ns;

	for (uint32_t left = cell->used; left; left &= left - 1)
		left_ns -= cell->ns[__builtin_ctz(left)];
	text_put_varint(out, (uint64_t)__builtin_popcount(cell->used) << 1 | !left_ns);
	for (uint32_t left = cell->used; left; left &= left - 1) {
		unsigned int share = __builtin_ctz(left);
		bool is_last = left == 1u << share;

		text_put_varint(out, share);
		if (!is_last || left_ns)
			text_put_varint(out, cell->ns[share]);
	}
}

void share_cells_add(struct share_cells *cells, uint32_t thread, const struct share_cell *cell, uint64_t width_ns)
{
	uint32_t at = cells->shares.length;

	put_shares(&cells->shares, cell, width_ns);
	ARRAY_GROW(cells->keys, cells->count, cells->capacity, 256);
	cells->keys[cells->count++] = (struct share_key){
		.thread = thread,
		.index = cell->index & ((1 << SHARE_WINDOW_SHIFT) - 1),
		.first = cell->first,
		.last = cell->last,
		.at = at,
		.end = cells->shares.length,
	};
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_keys(const void *a, const void *b)
{
	const struct share_key *x = a, *y = b;

	return x->thread != y->thread ? compare(x->thread, y->thread) : compare(x->at, y->at);
}

/* The thread minus the one before, what it does when the window begins, how many cells it has; each with its shares. */
static void put_thread(struct text *out, uint32_t distance, uint8_t share, const struct share_key *keys, size_t count,
		       const struct text *shares)
{
	uint8_t before = 0;

	text_put_varint(out, distance);
	text_put_varint(out, share);
	text_put_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		text_put_varint(out, keys[i].index - before);
		text_put_varint(out, keys[i].last);
		text_put_bytes(out, shares->bytes + keys[i].at, keys[i].end - keys[i].at);
		before = keys[i].index;
	}
}

void share_cells_put(struct share_cells *cells, const struct share_living *living, size_t living_count,
		     struct text *out)
{
	uint32_t before = 0;
	size_t at = 0, end;

	if (cells->count)
		qsort(cells->keys, cells->count, sizeof(*cells->keys), compare_keys);
	for (size_t i = 0; i < cells->count || at < living_count;) {
		const struct share_key *key = i < cells->count ? &cells->keys[i] : NULL;

		if (!key || (at < living_count && living[at].thread < key->thread)) {
			put_thread(out, living[at].thread - before, living[at].share, NULL, 0, &cells->shares);
			before = living[at++].thread;
			continue;
		}
		for (end = i; end < cells->count && cells->keys[end].thread == key->thread;)
			end++;
		put_thread(out, key->thread - before, key->first, key, end - i, &cells->shares);
		before = key->thread;
		i = end;
		while (at < living_count && living[at].thread == before)
			at++;
	}
}

void share_cells_clear(struct share_cells *cells)
{
	cells->count = 0;
	cells->shares.length = 0;
}

void share_cells_fini(struct share_cells *cells)
{
	free(cells->keys);
	text_fini(&cells->shares);
	*cells = (struct share_cells){ 0 };
}
