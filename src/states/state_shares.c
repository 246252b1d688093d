/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a stretch of time was spent how: whole cells of the pyramid where there are some, and the
 * states themselves at the edges, in gaps, and where few changes make it quick.
 */
#include "states/share_cells.h"
#include "states/share_index.h"
#include "states/states_internal.h"

struct sum {
	struct states *states;
	uint32_t thread;
	uint64_t from_ns, to_ns;           /* of the whole */
	uint64_t walk_from_ns, walk_to_ns; /* a part whose states are to be gone through */
	uint64_t *ns;
};

static void walk_part(struct sum *sum)
{
	struct state_walk walk;
	struct state state;

	states_walk(sum->states, sum->thread, sum->walk_from_ns, sum->walk_to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		uint64_t begin_ns = state.begin_ns, end_ns = state.end_ns;

		if (begin_ns < sum->walk_from_ns)
			begin_ns = sum->walk_from_ns;
		if (end_ns > sum->walk_to_ns)
			end_ns = sum->walk_to_ns;
		sum->ns[state_share(state.kind, state.value.why)] += end_ns - begin_ns;
	}
	sum->walk_from_ns = sum->walk_to_ns;
}

/* Neighbours are gone through together. */
static void add_part(struct sum *sum, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < sum->from_ns)
		begin_ns = sum->from_ns;
	if (end_ns > sum->to_ns)
		end_ns = sum->to_ns;
	if (begin_ns >= end_ns)
		return;
	if (begin_ns != sum->walk_to_ns) {
		walk_part(sum);
		sum->walk_from_ns = begin_ns;
	}
	sum->walk_to_ns = end_ns;
}

static void add_share(void *data, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	struct sum *sum = data;

	sum->ns[share] += end_ns - begin_ns;
}

/* False: it is not kept. */
static bool add_whole_cell(struct sum *sum, unsigned int level, uint64_t cell)
{
	struct share_index *index = states_share_index(sum->states);

	if (!share_index_has(index, level, cell))
		return false;
	share_index_each(index, level, cell, cell + 1, sum->thread, add_share, sum);
	return true;
}

/* In a history that grows, the last windows are missing. */
static bool window_has_ended(const struct states *states, unsigned int level, uint64_t cell)
{
	unsigned int shift = SHARE_SHIFT + level;

	return !states_are_growing(states) ||
	       ((cell >> SHARE_WINDOW_SHIFT) + 1) << (shift + SHARE_WINDOW_SHIFT) <= states_end_ns(states);
}

static void add_cell(struct sum *sum, unsigned int level, uint64_t cell)
{
	uint64_t begin_ns = cell << (SHARE_SHIFT + level);
	uint64_t end_ns = begin_ns + (1ull << (SHARE_SHIFT + level));
	bool is_whole = begin_ns >= sum->from_ns && end_ns <= sum->to_ns &&
			!state_gaps_touch(states_gaps(sum->states), begin_ns, end_ns);

	if (begin_ns >= sum->to_ns || end_ns <= sum->from_ns)
		return;
	if (is_whole && add_whole_cell(sum, level, cell))
		return;
	/* Where a level is not kept, those below have even less in a cell; unless the window only has not come to its end. */
	if ((is_whole && window_has_ended(sum->states, level, cell)) || !level) {
		add_part(sum, begin_ns, end_ns);
		return;
	}
	add_cell(sum, level - 1, 2 * cell);
	add_cell(sum, level - 1, 2 * cell + 1);
}

void states_add_shares(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES])
{
	struct sum sum = { .states = states, .thread = thread, .ns = ns };
	unsigned int level = SHARE_LEVELS - 1, shift = SHARE_SHIFT + SHARE_LEVELS - 1;

	/* Nobody lived before or after. */
	sum.from_ns = from_ns > states_begin_ns(states) ? from_ns : states_begin_ns(states);
	sum.to_ns = to_ns < states_end_ns(states) ? to_ns : states_end_ns(states);
	if (sum.from_ns >= sum.to_ns)
		return;
	sum.walk_from_ns = sum.walk_to_ns = sum.from_ns;
	while (level && sum.from_ns >> shift == (sum.to_ns - 1) >> shift) {
		level--;
		shift--;
	}
	for (uint64_t cell = sum.from_ns >> shift; cell <= (sum.to_ns - 1) >> shift; cell++)
		add_cell(&sum, level, cell);
	walk_part(&sum);
}
