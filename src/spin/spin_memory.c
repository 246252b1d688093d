/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which memory the steps of a loop access: the function's variables on its stack, or others. */
#include "spin/spin_flow_internal.h"

static void add_slot(struct spin_flow *flow, uint8_t base, int64_t offset, uint8_t bytes)
{
	for (int i = 0; i < flow->slot_count; i++) {
		struct spin_slot *slot = &flow->slots[i];

		if (slot->base != base || slot->offset != offset)
			continue;
		slot->bytes = slot->bytes > bytes ? slot->bytes : bytes;
		return;
	}
	if (flow->slot_count < SPIN_SLOTS_MAX)
		flow->slots[flow->slot_count++] = (struct spin_slot){ .base = base, .bytes = bytes, .offset = offset };
}

/* By rbp, those below it: others are arguments, or it is not a frame pointer. */
void spin_memory_begin(struct spin_flow *flow, spin_set steps)
{
	flow->slot_count = 0;
	for (; steps; steps &= steps - 1) {
		const struct spin_step *step = &flow->graph->steps[spin_set_first(steps)];
		const struct spin_place *place = &step->place;

		if (!step->has_place || place->index != SPIN_NOWHERE || place->segment != SPIN_NOWHERE)
			continue;
		if (place->base == SPIN_RSP || (place->base == SPIN_RBP && place->displacement < 0))
			add_slot(flow, place->base, place->displacement,
				 step->effect == SPIN_ADDRESS ? 1 : step->access_bytes);
	}
	flow->location_count = SPIN_SLOTS + flow->slot_count;
}

static bool overlaps(const struct spin_slot *slot, int64_t offset, uint8_t bytes)
{
	return (uint64_t)offset - (uint64_t)slot->offset < slot->bytes ||
	       (uint64_t)slot->offset - (uint64_t)offset < bytes;
}

/* The location of the variable at an address; -1: there is none. */
static int find_slot(struct spin_flow *flow, const struct spin_word *word, uint8_t bytes)
{
	uint8_t base = word->base == SPIN_INITIAL + SPIN_RSP ? SPIN_RSP : SPIN_RBP;
	int found = -1;

	if (word->index != SPIN_NUMBER || word->segment != SPIN_NOWHERE)
		return -1;
	if (base == SPIN_RBP && (word->base != SPIN_INITIAL + SPIN_RBP || !flow->has_frame || word->offset >= 0))
		return -1;
	for (int i = 0; i < flow->slot_count; i++) {
		const struct spin_slot *slot = &flow->slots[i];

		if (slot->base != base)
			continue;
		if (slot->offset == word->offset)
			found = SPIN_SLOTS + i;
		else if (overlaps(slot, word->offset, bytes))
			flow->is_lost = true; /* which part of it changes is not followed */
	}
	flow->is_lost |= found < 0; /* there are too many, or a pointer leads there */
	return found;
}

/* The number of a word, the same for equal addresses; -1: there are too many. */
static int find_word(struct spin_flow *flow, const struct spin_word *word)
{
	int i;

	for (i = 0; i < flow->word_count; i++) {
		const struct spin_word *known = &flow->words[i];

		if (known->base == word->base && known->index == word->index && known->scale == word->scale &&
		    known->segment == word->segment && known->offset == word->offset)
			return i;
	}
	if (i == SPIN_WORDS_MAX)
		return -1;
	flow->words[flow->word_count++] = *word;
	return i;
}

static struct spin_value value_of(const struct spin_state *state, uint8_t location)
{
	return location == SPIN_NOWHERE ? spin_value_number(0) : state->at[location];
}

struct spin_access spin_memory_find(struct spin_flow *flow, const struct spin_state *state, int i)
{
	const struct spin_step *step = &flow->graph->steps[i];
	struct spin_value base = value_of(state, step->place.base);
	struct spin_value index = value_of(state, step->place.index);
	struct spin_access access = {
		.address = spin_value_both(&base, &index),
		.slot = -1,
		.word = -1,
	};
	struct spin_word word = {
		.base = base.symbol,
		.index = index.symbol,
		.segment = step->place.segment,
		.scale = spin_value_is_number(&index) ? 1 : step->place.scale,
		.offset = (uint64_t)base.offset + (uint64_t)index.offset * step->place.scale +
			  (uint64_t)step->place.displacement,
	};

	access.address.mixed = access.address.stepped = access.address.depends;
	if (base.symbol == SPIN_UNKNOWN || index.symbol == SPIN_UNKNOWN)
		return access;
	if (word.base == SPIN_NUMBER && word.index == SPIN_NUMBER && word.segment == SPIN_NOWHERE) {
		flow->facts.with_word |= SPIN_BIT(i);
		flow->facts.word[i] = word.offset;
	}
	/* What is changed atomically is shared, wherever it lies. */
	if (!step->is_locked && step->effect != SPIN_SWAP && step->effect != SPIN_COMPARE_SWAP)
		access.slot = find_slot(flow, &word, step->access_bytes);
	if (access.slot < 0)
		access.word = find_word(flow, &word);
	return access;
}

struct spin_value spin_memory_read(const struct spin_state *state, const struct spin_access *access, int step)
{
	struct spin_value value = access->address;

	if (access->slot >= 0) {
		value = state->at[access->slot];
		if (value.symbol == SPIN_INITIAL + access->slot && !value.offset) {
			value.from |= SPIN_LOCAL;
			value.reader = step;
		}
		return value;
	}
	value.from |= SPIN_POLLED;
	value.reader = step;
	value.symbol = access->word >= 0 ? SPIN_READ + access->word : SPIN_RESULT + step;
	value.offset = 0;
	return value;
}
