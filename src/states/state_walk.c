/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bound.h"
#include "states/states_internal.h"

static bool is_state(uint8_t kind)
{
	return kind != RECORD_WOKEN && kind != RECORD_OWNER;
}

/* A record of a thread, by the block and its number among the thread's there. */
struct place {
	size_t block, at;
};

static const struct state_record *record_at(const struct open_block *open, uint32_t place, size_t at)
{
	if (at >= open->starts[place + 1] - open->starts[place])
		return NULL;
	return &open->block.records[open->order[open->starts[place] + at]];
}

/* The record at the place or, if the block has no more of the thread, the first one behind it. */
static const struct state_record *find_record(struct states *states, uint32_t thread, struct place *place,
					      const struct open_block **open)
{
	const struct state_record *record = NULL;
	uint32_t in_block;

	while (place->block < states_block_count(states)) {
		*open = states_block(states, place->block, BLOCK_THREADS);
		in_block = *open ? open_block_find(*open, thread) : NO_THREAD;
		record = in_block == NO_THREAD ? NULL : record_at(*open, in_block, place->at);
		if (record)
			return record;
		place->block = states_next_block(states, thread, place->block);
		place->at = 0;
	}
	return NULL;
}

/* waker: a number, or 0. */
static struct state_value value_of(const struct open_block *open, uint32_t value, uint32_t waker)
{
	struct state_value meaning = open->block.values[value];

	meaning.thread = waker;
	return meaning;
}

static uint32_t waker_of(const struct open_block *open, const struct state_record *record)
{
	return record->waker ? open->block.threads[record->waker - 1].number : 0;
}

/* Who ended the wait that the record at the place, which comes behind it, ended. */
static struct state_value end_of_wait(struct states *states, uint32_t thread, struct place place)
{
	const struct open_block *open;
	const struct state_record *record = find_record(states, thread, &place, &open);
	uint8_t emission = RECORD_RUNNABLE;

	if (record && (record->kind == RECORD_RUNNING || record->kind == RECORD_SPINNING)) {
		place.at++;
		record = find_record(states, thread, &place, &open);
		emission = RECORD_WOKEN;
	}
	if (record && record->kind == emission)
		return value_of(open, record->value, waker_of(open, record));
	return (struct state_value){ 0 };
}

/* Fills in all but the end. Returns false when the thread does not live then. */
static bool begin_state(const struct open_block *open, uint8_t kind, uint64_t begin_ns, uint32_t value, uint32_t waker,
			struct state *out)
{
	*out = (struct state){ .begin_ns = begin_ns, .kind = state_kind_of_record(kind) };
	if (kind == RECORD_RUNNABLE || kind == RECORD_BLOCKED)
		out->value = value_of(open, value, waker);
	else if (kind == RECORD_RUNNING || kind == RECORD_SPINNING)
		out->cpu = value;
	return kind != RECORD_END;
}

/* The stack of a wait may be recorded when it ends: the block in which it does so knows. */
static void learn_stack(const struct open_block *end, uint32_t thread, struct state *state)
{
	uint32_t place = open_block_find(end, thread);
	const struct state_origin *origin = &end->block.threads[place];

	if (origin->kind == RECORD_BLOCKED && origin->since_ns == state->begin_ns)
		state->value = value_of(end, origin->value, 0);
}

/* The state at *place, or in the origin of its block; the place moves on to the record that ends it. */
static bool take_state(struct state_walk *walk, struct state *out)
{
	struct place place = { walk->block, walk->at };
	const struct open_block *open = NULL;
	const struct state_record *record;
	bool is_alive = false;
	uint32_t in_block;

	if (walk->at == AT_ORIGIN) {
		open = states_block(walk->states, walk->block, BLOCK_THREADS);
		in_block = open ? open_block_find(open, walk->thread) : NO_THREAD;
		if (in_block != NO_THREAD) {
			const struct state_origin *origin = &open->block.threads[in_block];

			is_alive = begin_state(open, origin->kind, origin->since_ns, origin->value, origin->waker, out);
		}
		place.at = 0;
	} else {
		record = find_record(walk->states, walk->thread, &place, &open);
		if (!record) {
			walk->is_over = true;
			return false;
		}
		is_alive = begin_state(open, record->kind, record->time_ns, record->value, waker_of(open, record), out);
		place.at++;
	}
	for (;;) {
		record = find_record(walk->states, walk->thread, &place, &open);
		if (!record || is_state(record->kind))
			break;
		place.at++;
	}
	walk->block = place.block;
	walk->at = place.at;
	walk->is_over = !record;
	if (!is_alive)
		return false;
	out->end_ns = record ? record->time_ns : states_end_ns(walk->states);
	if (out->kind == STATE_BLOCKED && record) {
		learn_stack(open, walk->thread, out);
		out->ended = end_of_wait(walk->states, walk->thread, place);
	}
	return true;
}

/* What lies behind the beginning of a gap that touches the state is unknown. */
static void cut_at_gap(struct state_walk *walk, struct state *state)
{
	const struct state_gap *gap = state_gaps_after(states_gaps(walk->states), state->begin_ns);

	if (!gap || gap->begin_ns >= state->end_ns)
		return;
	walk->rest = (struct state){ .begin_ns = gap->begin_ns, .end_ns = state->end_ns };
	if (gap->begin_ns <= state->begin_ns) {
		walk->rest.begin_ns = state->begin_ns;
		*state = walk->rest;
		return;
	}
	walk->has_rest = true;
	state->end_ns = gap->begin_ns;
	state->ended = (struct state_value){ 0 };
}

/* The last record of the thread in the block up to time_ns, or AT_ORIGIN. */
static size_t last_record(const struct open_block *open, uint32_t place, uint64_t time_ns)
{
	size_t low = BOUND(open->starts[place], open->starts[place + 1], i,
			   open->block.records[open->order[i]].time_ns <= time_ns);

	while (low > open->starts[place] && !is_state(open->block.records[open->order[low - 1]].kind))
		low--;
	return low == open->starts[place] ? AT_ORIGIN : low - 1 - open->starts[place];
}

void states_walk(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct state_walk *walk)
{
	const struct open_block *open;
	uint32_t place;

	*walk = (struct state_walk){
		.states = states,
		.thread = thread,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.is_over = !states_block_count(states) || from_ns >= to_ns,
	};
	if (walk->is_over)
		return;
	walk->block = states_block_at(states, from_ns);
	open = states_block(states, walk->block, BLOCK_THREADS);
	place = open ? open_block_find(open, thread) : NO_THREAD;
	if (place != NO_THREAD)
		walk->at = last_record(open, place, from_ns);
	else /* It does not live yet, or any more: the block in which it is born is not examined for nothing. */
		walk->is_over = states_block_begin_ns(states, states_next_block(states, thread, walk->block)) >= to_ns;
}

bool state_walk_next(struct state_walk *walk, struct state *out)
{
	for (;;) {
		if (walk->has_rest) {
			*out = walk->rest;
			walk->has_rest = false;
		} else if (walk->is_over) {
			return false;
		} else if (take_state(walk, out)) {
			cut_at_gap(walk, out);
		} else {
			continue;
		}
		if (out->begin_ns >= walk->to_ns) {
			walk->is_over = true;
			walk->has_rest = false;
			return false;
		}
		if (out->end_ns > walk->from_ns && out->end_ns > out->begin_ns)
			return true;
	}
}

bool states_at(struct states *states, uint32_t thread, uint64_t time_ns, struct state *out)
{
	struct state_walk walk;

	states_walk(states, thread, time_ns, time_ns + 1, &walk);
	return state_walk_next(&walk, out);
}
