/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/aligned_tile.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/text.h"
#include "lanes/tile_bytes.h"
#include "states/share_cells.h"
#include "states/states.h"

/* A part that has no more than so many of the finest summaries' cells is gone through state by state. */
enum { WALKED_CELLS = 4 };

/* What of a part lies in a tile, in the time of the trace. False: nothing does. */
static bool clip(const struct tile *tile, const struct aligned_row *row, const struct execution_part *part,
		 uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t begin_ns = row->begin_ns + tile->begin_ns, end_ns = row->begin_ns + tile->end_ns;

	*from_ns = part->begin_ns > begin_ns ? part->begin_ns : begin_ns;
	*to_ns = part->end_ns < end_ns ? part->end_ns : end_ns;
	return *from_ns < *to_ns;
}

/* A state as far as it lies in the part, since the execution's beginning. */
static struct slice slice_of(const struct aligned_row *row, const struct execution_part *part,
			     const struct state *state)
{
	uint64_t begin_ns = state->begin_ns > part->begin_ns ? state->begin_ns : part->begin_ns;
	uint64_t end_ns = state->end_ns < part->end_ns ? state->end_ns : part->end_ns;

	return (struct slice){
		.begin_ns = begin_ns - row->begin_ns,
		.end_ns = end_ns - row->begin_ns,
		.share = state_share(state->kind, state->value.why),
		.who = state->kind == STATE_RUNNABLE ? state->value.thread : 0,
	};
}

/* False: there are too many. */
static bool find_slices(const struct tile *tile, const struct aligned_row *row, struct slices *out)
{
	uint64_t from_ns, to_ns;
	struct state_walk walk;
	struct state state;

	out->count = 0;
	for (size_t i = 0; i < row->part_count; i++) {
		const struct execution_part *part = &row->parts[i];

		if (!clip(tile, row, part, &from_ns, &to_ns))
			continue;
		states_walk(tile->states, part->thread, from_ns, to_ns, &walk);
		while (state_walk_next(&walk, &state))
			if (!tile_add_slice(out, tile, slice_of(row, part, &state)))
				return false;
	}
	return true;
}

static void walk_part(const struct tile *tile, const struct aligned_row *row, const struct execution_part *part,
		      struct column *columns)
{
	uint64_t from_ns, to_ns;
	struct state_walk walk;
	struct state state;

	if (!clip(tile, row, part, &from_ns, &to_ns))
		return;
	states_walk(tile->states, part->thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		struct slice slice = slice_of(row, part, &state);

		tile_add_stretch(tile, columns, slice.begin_ns, slice.end_ns, slice.share);
	}
}

/* Column by column, from the summaries of the history. */
static void sum_part(const struct tile *tile, const struct aligned_row *row, const struct execution_part *part,
		     struct column *columns)
{
	uint64_t from_ns, to_ns, until_ns;

	if (!clip(tile, row, part, &from_ns, &to_ns))
		return;
	for (; from_ns < to_ns; from_ns = until_ns) {
		uint64_t column = (from_ns - row->begin_ns - tile->begin_ns) >> tile->shift;

		until_ns = row->begin_ns + tile->begin_ns + ((column + 1) << tile->shift);
		if (until_ns > to_ns)
			until_ns = to_ns;
		states_add_shares(tile->states, part->thread, from_ns, until_ns, columns[column].ns);
	}
}

/* The first slice that ends behind a time. */
static size_t first_behind(const struct aligned_row *row, uint64_t time_ns)
{
	return BOUND(0, row->slice_count, i, row->slices[i].end_ns <= time_ns);
}

static void add_kept(const struct tile *tile, const struct aligned_row *row, struct column *columns)
{
	for (size_t i = first_behind(row, tile->begin_ns); i < row->slice_count; i++) {
		const struct aligned_slice *slice = &row->slices[i];

		if (slice->begin_ns >= tile->end_ns)
			return;
		tile_add_stretch(tile, columns, slice->begin_ns, slice->end_ns, slice->share);
	}
}

static void add_looked_up(const struct tile *tile, const struct aligned_row *row, struct column *columns)
{
	for (size_t i = 0; i < row->part_count; i++) {
		const struct execution_part *part = &row->parts[i];

		if (tile->shift < SHARE_SHIFT || part->end_ns - part->begin_ns <= (uint64_t)WALKED_CELLS << SHARE_SHIFT)
			walk_part(tile, row, part, columns);
		else
			sum_part(tile, row, part, columns);
	}
}

static void put_columns(const struct tile *tile, const struct aligned_row *rows, size_t count, struct text *out)
{
	struct column *columns = xcalloc(TILE_COLUMNS, sizeof(*columns));

	for (size_t i = 0; i < count; i++)
		if (rows[i].slices)
			add_kept(tile, &rows[i], columns);
		else
			add_looked_up(tile, &rows[i], columns);
	if (tile_has_any(columns))
		tile_put_columns(columns, out);
	else
		text_put_varint(out, TILE_EMPTY);
	free(columns);
}

void aligned_tile_put(struct states *states, const struct aligned_row *rows, size_t count, unsigned int shift,
		      uint64_t index, struct text *out)
{
	uint64_t width_ns = 1ull << (shift + TILE_COLUMNS_SHIFT);
	struct tile tile = {
		.states = states, .begin_ns = index * width_ns, .end_ns = (index + 1) * width_ns, .shift = shift
	};
	struct slices slices;

	if (count != 1 || shift >= SHARE_SHIFT || !find_slices(&tile, rows, &slices))
		put_columns(&tile, rows, count, out);
	else if (slices.count)
		tile_put_slices(&tile, &slices, false, out);
	else
		text_put_varint(out, TILE_EMPTY);
}

bool aligned_slices_add(struct states *states, const struct aligned_row *row, size_t max, struct aligned_slices *out,
			size_t *count)
{
	size_t before = out->count;
	struct state_walk walk;
	struct state state;

	for (size_t i = 0; i < row->part_count; i++) {
		const struct execution_part *part = &row->parts[i];

		states_walk(states, part->thread, part->begin_ns, part->end_ns, &walk);
		while (state_walk_next(&walk, &state)) {
			struct slice slice = slice_of(row, part, &state);

			if (slice.begin_ns >= slice.end_ns)
				continue;
			if (out->count == max) {
				out->count = before;
				return false;
			}
			ARRAY_GROW(out->list, out->count, out->capacity, 1024);
			out->list[out->count++] = (struct aligned_slice){ slice.begin_ns, slice.end_ns, slice.share };
		}
	}
	*count = out->count - before;
	return true;
}

static void add_kept_shares(const struct aligned_row *row, uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES])
{
	for (size_t i = first_behind(row, from_ns); i < row->slice_count && row->slices[i].begin_ns < to_ns; i++) {
		const struct aligned_slice *slice = &row->slices[i];
		uint64_t begin_ns = slice->begin_ns > from_ns ? slice->begin_ns : from_ns;
		uint64_t end_ns = slice->end_ns < to_ns ? slice->end_ns : to_ns;

		ns[slice->share] += end_ns - begin_ns;
	}
}

void aligned_add_shares(struct states *states, const struct aligned_row *row, uint64_t from_ns, uint64_t to_ns,
			uint64_t ns[SHARES])
{
	const struct tile span = { .begin_ns = from_ns, .end_ns = to_ns };
	uint64_t begin_ns, end_ns;

	if (row->slices)
		add_kept_shares(row, from_ns, to_ns, ns);
	for (size_t i = 0; i < row->part_count && !row->slices; i++)
		if (clip(&span, row, &row->parts[i], &begin_ns, &end_ns))
			states_add_shares(states, row->parts[i].thread, begin_ns, end_ns, ns);
}
