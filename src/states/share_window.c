/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "states/share_cells.h"

static bool add_share(struct share_window *window, uint64_t share, uint64_t ns, uint64_t *left_ns)
{
	if (share >= SHARES || ns > *left_ns)
		return false;
	*left_ns -= ns;
	ARRAY_GROW(window->shares, window->share_count, window->share_capacity, 1024);
	window->shares[window->share_count++] = (struct window_share){ .ns = ns, .share = share };
	return true;
}

/* As share_cells.c puts them. */
static bool read_shares(struct share_window *window, struct byte_cursor *cursor, uint64_t width_ns)
{
	uint64_t head = byte_cursor_uleb(cursor), count = head >> 1, left_ns = width_ns;
	bool is_full = head & 1;

	if (count > SHARES || (is_full && !count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t share = byte_cursor_uleb(cursor);
		uint64_t ns = is_full && i + 1 == count ? left_ns : byte_cursor_uleb(cursor);

		if (cursor->is_bad || !add_share(window, share, ns, &left_ns))
			return false;
	}
	return true;
}

static bool read_cell(struct share_window *window, struct byte_cursor *cursor, uint64_t width_ns, uint64_t *index)
{
	struct window_cell *cell;
	uint64_t last;
	size_t at = window->share_count;

	*index += byte_cursor_uleb(cursor);
	last = byte_cursor_uleb(cursor);
	if (*index >> SHARE_WINDOW_SHIFT || last > SHARE_ABSENT || !read_shares(window, cursor, width_ns))
		return false;
	ARRAY_GROW(window->cells, window->cell_count, window->cell_capacity, 1024);
	cell = &window->cells[window->cell_count++];
	*cell = (struct window_cell){
		.at = at, .share_count = window->share_count - at, .index = *index, .last = last
	};
	return !cursor->is_bad;
}

static bool read_life(struct share_window *window, struct byte_cursor *cursor, uint64_t width_ns)
{
	uint32_t before = window->life_count ? window->lives[window->life_count - 1].thread : 0;
	uint64_t distance = byte_cursor_uleb(cursor), share = byte_cursor_uleb(cursor);
	uint64_t count = byte_cursor_uleb(cursor), index = 0;
	struct share_life life = {
		.thread = before + distance, .first_cell = window->cell_count, .cell_count = count, .share = share
	};

	if ((!distance && window->life_count) || distance > UINT32_MAX - before || share > SHARE_ABSENT ||
	    count > byte_cursor_left(cursor))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!read_cell(window, cursor, width_ns, &index))
			return false;
	ARRAY_GROW(window->lives, window->life_count, window->life_capacity, 64);
	window->lives[window->life_count++] = life;
	return !cursor->is_bad;
}

int share_window_read(const void *content, size_t size_bytes, uint64_t width_ns, struct share_window *out)
{
	struct byte_cursor cursor = byte_cursor_new(content, size_bytes);

	*out = (struct share_window){ 0 };
	while (byte_cursor_left(&cursor))
		if (!read_life(out, &cursor, width_ns)) {
			share_window_fini(out);
			return -EBADMSG;
		}
	return 0;
}

void share_window_fini(struct share_window *window)
{
	free(window->lives);
	free(window->cells);
	free(window->shares);
	*window = (struct share_window){ 0 };
}

size_t share_window_bytes(const struct share_window *window)
{
	return window->life_capacity * sizeof(*window->lives) + window->cell_capacity * sizeof(*window->cells) +
	       window->share_capacity * sizeof(*window->shares);
}

/* What a thread does between cells with a change. */
static void tell_quiet(const struct share_stretch *stretch, uint32_t from, uint32_t to, uint8_t share,
		       share_part_fn *on_part, void *data)
{
	if (from < to && share != SHARE_ABSENT)
		on_part(data, stretch->window_ns + ((uint64_t)from << stretch->shift),
			stretch->window_ns + ((uint64_t)to << stretch->shift), share);
}

/* A thread that came back has several cells in one place: at_ns is the end of the one before. */
static uint64_t tell_cell(const struct share_window *window, const struct window_cell *cell, uint64_t at_ns,
			  share_part_fn *on_part, void *data)
{
	for (unsigned int i = 0; i < cell->share_count; i++) {
		const struct window_share *share = &window->shares[cell->at + i];

		if (!share->ns)
			continue;
		on_part(data, at_ns, at_ns + share->ns, share->share);
		at_ns += share->ns;
	}
	return at_ns;
}

void share_window_each(const struct share_window *window, const struct share_stretch *stretch, share_part_fn *on_part,
		       void *data)
{
	size_t at = BOUND(0, window->life_count, i, window->lives[i].thread < stretch->thread), cell, end;
	const struct share_life *life = &window->lives[at];
	uint32_t next = stretch->from;
	uint64_t at_ns = 0;
	uint8_t share;

	if (at == window->life_count || life->thread != stretch->thread)
		return;
	end = life->first_cell + life->cell_count;
	cell = BOUND(life->first_cell, end, i, window->cells[i].index < stretch->from);
	share = cell > life->first_cell ? window->cells[cell - 1].last : life->share;
	for (; cell < end && window->cells[cell].index < stretch->to; cell++) {
		const struct window_cell *its = &window->cells[cell];

		tell_quiet(stretch, next, its->index, share, on_part, data);
		if (next != its->index + 1u)
			at_ns = stretch->window_ns + ((uint64_t)its->index << stretch->shift);
		at_ns = tell_cell(window, its, at_ns, on_part, data);
		next = its->index + 1u;
		share = its->last;
	}
	tell_quiet(stretch, next, stretch->to, share, on_part, data);
}
