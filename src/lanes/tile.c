/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/tile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lanes/lanes.h"
#include "lanes/part_choice.h"
#include "lanes/tile_bytes.h"
#include "states/share_cells.h"
#include "states/states.h"

_Static_assert((int)CPU_SHARES <= (int)SHARES, "a column has space for both");
_Static_assert((int)TILE_COLUMNS == (int)STATES_COLUMNS, "a tile is what the history tells at once");

uint64_t tile_origin_ns(uint64_t first_ns)
{
	unsigned int shift = TILE_SHIFT_MAX + TILE_COLUMNS_SHIFT;

	return first_ns >> shift << shift;
}

/* Of a slice, the parts that are chosen. */
struct choosing {
	const struct tile *tile;
	struct slices *out;
	struct slice slice;
};

static bool add_chosen(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	const struct choosing *choosing = data;
	struct slice part = choosing->slice;

	part.begin_ns = begin_ns;
	part.end_ns = end_ns;
	return tile_add_slice(choosing->out, choosing->tile, part);
}

static bool slices_of_thread(const struct tile *tile, uint32_t thread, struct slices *out)
{
	struct state_walk walk;
	struct state state;

	states_walk(tile->states, thread, tile->begin_ns, tile->end_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		struct slice slice = {
			.begin_ns = state.begin_ns,
			.end_ns = state.end_ns,
			.share = state_share(state.kind, state.value.why),
			.who = state.kind == STATE_RUNNABLE ? state.value.thread : 0,
		};

		if (!(tile->choice ? part_choice_each(tile->choice, thread, &state, add_chosen,
						      &(struct choosing){ tile, out, slice })
				   : tile_add_slice(out, tile, slice)))
			return false;
	}
	return true;
}

static struct slice slice_of_cpu(const struct cpu_state *state)
{
	return (struct slice){
		.begin_ns = state->begin_ns,
		.end_ns = state->end_ns,
		.share = cpu_state_share(state),
		.who = state->thread ? state->thread : state->tid,
	};
}

/* Pieces that are alike are one. */
static bool slices_of_cpu(const struct tile *tile, uint32_t cpu, struct slices *out)
{
	struct cpu_walk walk;
	struct cpu_state state;

	if (tile->choice && !part_choice_has_cpu(tile->choice, cpu))
		return true;
	states_walk_cpu(tile->states, cpu, tile->begin_ns, tile->end_ns, &walk);
	while (cpu_walk_next(&walk, &state)) {
		struct slice slice = slice_of_cpu(&state);
		struct slice *last = out->count ? &out->list[out->count - 1] : NULL;

		if (!tile->choice && last && last->end_ns == slice.begin_ns && last->share == slice.share &&
		    last->who == slice.who)
			last->end_ns = slice.end_ns;
		else if (!(tile->choice ? part_choice_each_of_cpu(tile->choice, cpu, &state, add_chosen,
								  &(struct choosing){ tile, out, slice })
					: tile_add_slice(out, tile, slice)))
			return false;
	}
	return true;
}

/* --- Lanes of one request ----------------------------------------------------------------------- */

struct wanted {
	const struct lane *lane;
	struct column *columns; /* [TILE_COLUMNS]; NULL: slices are put in their place */
	struct text slices;
};

/* A thread that one of the lanes or several stand for. */
struct member {
	uint32_t number, place;
	size_t first, end; /* of its lanes */
};

/* Whose columns are to be filled. */
struct filling {
	const struct tile *tile;
	struct member *members; /* by number */
	uint32_t *numbers;
	size_t count;
	struct column **lanes; /* columns of the lanes of all members */
	size_t lane_count, lane_capacity;
};

static int compare_members(const void *a, const void *b)
{
	uint32_t x = ((const struct member *)a)->number, y = ((const struct member *)b)->number;

	return (x > y) - (x < y);
}

static void find_lanes(struct filling *filling, struct member *member, const struct wanted *wanted, size_t count)
{
	member->first = filling->lane_count;
	for (size_t i = 0; i < count; i++) {
		const struct lane *lane = wanted[i].lane;

		if (!wanted[i].columns || member->place - lane->first_thread >= lane->thread_count)
			continue;
		ARRAY_GROW(filling->lanes, filling->lane_count, filling->lane_capacity, 256);
		filling->lanes[filling->lane_count++] = wanted[i].columns;
	}
	member->end = filling->lane_count;
}

/* Threads of the lanes that live in the tile's time. */
static void find_members(struct filling *filling, const struct lanes *lanes, const struct wanted *wanted, size_t count)
{
	bool *is_wanted = xcalloc(lanes->thread_count + 1, sizeof(*is_wanted));

	filling->members = xcalloc(lanes->thread_count + 1, sizeof(*filling->members));
	filling->numbers = xcalloc(lanes->thread_count + 1, sizeof(*filling->numbers));
	for (size_t i = 0; i < count; i++)
		if (wanted[i].columns && wanted[i].lane->thread_count)
			memset(is_wanted + wanted[i].lane->first_thread, true, wanted[i].lane->thread_count);
	for (uint32_t place = 0; place < lanes->thread_count; place++) {
		const struct lane_thread *thread = &lanes->threads[place];

		if (is_wanted[place] && thread->end_ns > filling->tile->begin_ns &&
		    thread->begin_ns < filling->tile->end_ns)
			filling->members[filling->count++] =
				(struct member){ .number = thread->number, .place = place };
	}
	free(is_wanted);
	qsort(filling->members, filling->count, sizeof(*filling->members), compare_members);
	for (size_t i = 0; i < filling->count; i++) {
		filling->numbers[i] = filling->members[i].number;
		find_lanes(filling, &filling->members[i], wanted, count);
	}
}

static void fill_thread(void *data, size_t which, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	const struct filling *filling = data;
	const struct member *member = &filling->members[which];

	for (size_t i = member->first; i < member->end; i++)
		tile_add_stretch(filling->tile, filling->lanes[i], begin_ns, end_ns, share);
}

struct cpu_filling {
	const struct tile *tile;
	struct column *columns;
};

static void fill_cpu(void *data, size_t which, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	const struct cpu_filling *filling = data;

	(void)which;
	tile_add_stretch(filling->tile, filling->columns, begin_ns, end_ns, share);
}

static void fill_cpu_lane(struct cpu_filling *filling, uint32_t cpu)
{
	const struct tile *tile = filling->tile;

	if (tile->choice)
		part_choice_each_cpu_part(tile->choice, cpu, tile->begin_ns, tile->end_ns, fill_cpu, filling);
	else
		states_each_cpu_part(tile->states, cpu, tile->begin_ns, tile->shift, fill_cpu, filling);
}

/* All threads at once: so each block of states is gone through once. */
static void fill_columns(const struct tile *tile, const struct lanes *lanes, const struct wanted *wanted, size_t count)
{
	struct filling filling = { .tile = tile };

	find_members(&filling, lanes, wanted, count);
	if (filling.count && tile->choice)
		part_choice_each_part(tile->choice, filling.numbers, filling.count, tile->begin_ns, tile->end_ns,
				      fill_thread, &filling);
	else if (filling.count)
		states_each_part(tile->states, filling.numbers, filling.count, tile->begin_ns, tile->shift, tile->pause,
				 fill_thread, &filling);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].lane->kind == LANE_CPU && wanted[i].columns)
			fill_cpu_lane(&(struct cpu_filling){ tile, wanted[i].columns }, wanted[i].lane->cpu);
	free(filling.members);
	free(filling.numbers);
	free(filling.lanes);
}

/* Whether it has few changes: then they are put. Slices are not on the stack: names of what is waited for may be looked up meanwhile. */
static bool put_few(const struct tile *tile, const struct lanes *lanes, const struct lane *lane, struct text *out)
{
	bool is_cpu = lane->kind == LANE_CPU, is_few;
	struct slices *slices;

	if (tile->shift >= SHARE_SHIFT || (!is_cpu && lane->thread_count != 1))
		return false;
	slices = xcalloc(1, sizeof(*slices));
	is_few = is_cpu ? slices_of_cpu(tile, lane->cpu, slices)
			: slices_of_thread(tile, lanes->threads[lane->first_thread].number, slices);
	if (is_few && slices->count)
		tile_put_slices(tile, slices, is_cpu, out);
	else if (is_few)
		text_put_varint(out, TILE_EMPTY);
	free(slices);
	return is_few;
}

static void put_lane(struct wanted *wanted, struct text *out)
{
	if (!wanted->columns)
		text_put_bytes(out, wanted->slices.bytes, wanted->slices.length);
	else if (tile_has_any(wanted->columns))
		tile_put_columns(wanted->columns, out);
	else
		text_put_varint(out, TILE_EMPTY);
	text_fini(&wanted->slices);
	free(wanted->columns);
}

void tiles_put(const struct tile_question *question, struct text *out)
{
	const struct lanes *lanes = question->lanes;
	uint64_t width_ns = 1ull << (question->shift + TILE_COLUMNS_SHIFT);
	struct tile tile = {
		.states = question->states,
		.begin_ns = question->origin_ns + question->index * width_ns,
		.shift = question->shift,
		.choice = question->choice,
		.pause = question->pause,
	};
	struct wanted *wanted = xcalloc(question->count + 1, sizeof(*wanted));
	bool has_columns = false;

	tile.end_ns = tile.begin_ns + width_ns;
	for (size_t i = 0; i < question->count; i++) {
		wanted[i].lane = &lanes->list[question->ids[i]];
		if (put_few(&tile, lanes, wanted[i].lane, &wanted[i].slices))
			continue;
		wanted[i].columns = xcalloc(TILE_COLUMNS, sizeof(*wanted[i].columns));
		has_columns = true;
	}
	if (has_columns)
		fill_columns(&tile, lanes, wanted, question->count);
	for (size_t i = 0; i < question->count; i++)
		put_lane(&wanted[i], out);
	free(wanted);
}
