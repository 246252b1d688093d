/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of many threads, block after block: each block is unpacked once, however many threads are asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "states/states_internal.h"

/* Instead of a CPU: it is looked up. */
#define CPU_LATER (STATES_NO_CPU - 1)

/* What a thread does, and its last states, of which it is not known where it ran next. */
struct passing {
	struct state state; /* without its end */
	bool lives;
	struct state *held;
	size_t held_count, held_capacity;
};

struct pass {
	struct states *states;
	const uint32_t *threads;
	size_t count;
	uint64_t from_ns, to_ns;
	bool wants_cpus;
	states_state_fn *on_state;
	void *data;
	struct passing *passing; /* by thread */
};

uint32_t states_next_cpu(struct states *states, uint32_t thread, uint64_t time_ns)
{
	struct state_walk walk;
	struct state state;
	uint64_t at_ns = 0;

	states_walk(states, thread, time_ns, UINT64_MAX, &walk);
	while (state_walk_next(&walk, &state) && state.kind != STATE_UNKNOWN && (!at_ns || state.begin_ns == at_ns)) {
		if (state.kind == STATE_RUNNING || state.kind == STATE_SPINNING)
			return state.cpu < CPUS_MAX ? state.cpu : STATES_NO_CPU;
		at_ns = state.end_ns;
	}
	return STATES_NO_CPU;
}

/* --- Telling -------------------------------------------------------------------------------- */

/* cpu: where the thread ran behind what is held; CPU_LATER: that is looked up. */
static void tell_held(const struct pass *pass, size_t which, uint32_t cpu)
{
	struct passing *passing = &pass->passing[which];

	if (passing->held_count && cpu == CPU_LATER)
		cpu = states_next_cpu(pass->states, pass->threads[which],
				      passing->held[passing->held_count - 1].begin_ns);
	for (size_t i = 0; i < passing->held_count; i++)
		pass->on_state(pass->data, which, &passing->held[i], cpu);
	passing->held_count = 0;
}

static void tell(const struct pass *pass, size_t which, const struct state *state)
{
	struct passing *passing = &pass->passing[which];

	if (state->kind == STATE_RUNNING || state->kind == STATE_SPINNING || state->kind == STATE_UNKNOWN) {
		uint32_t cpu = state->kind != STATE_UNKNOWN && state->cpu < CPUS_MAX ? state->cpu : STATES_NO_CPU;

		tell_held(pass, which, cpu);
		if (state->end_ns > pass->from_ns)
			pass->on_state(pass->data, which, state, cpu);
	} else if (state->end_ns <= pass->from_ns) {
		return;
	} else if (!pass->wants_cpus) {
		pass->on_state(pass->data, which, state, STATES_NO_CPU);
	} else {
		ARRAY_GROW(passing->held, passing->held_count, passing->held_capacity, 4);
		passing->held[passing->held_count++] = *state;
	}
}

/* Behind the beginning of a gap it is unknown what the thread did. */
static void end_state(const struct pass *pass, size_t which, uint64_t end_ns)
{
	struct state state = pass->passing[which].state;
	const struct state_gap *gap = state_gaps_after(states_gaps(pass->states), state.begin_ns);
	struct state rest = { .begin_ns = state.begin_ns, .end_ns = end_ns };

	state.end_ns = end_ns;
	if (gap && gap->begin_ns < end_ns) {
		if (gap->begin_ns > rest.begin_ns)
			rest.begin_ns = state.end_ns = gap->begin_ns;
		else
			state.end_ns = state.begin_ns;
	} else {
		rest.begin_ns = end_ns;
	}
	if (state.begin_ns < state.end_ns)
		tell(pass, which, &state);
	if (rest.begin_ns < rest.end_ns)
		tell(pass, which, &rest);
}

/* --- Passing -------------------------------------------------------------------------------- */

static void begin_state(struct passing *passing, const struct state_block *block, uint8_t kind, uint64_t begin_ns,
			uint32_t value, uint32_t waker)
{
	passing->state = (struct state){ .begin_ns = begin_ns, .kind = state_kind_of_record(kind) };
	passing->lives = kind != RECORD_END;
	if (state_has_value(kind)) {
		passing->state.value = block->values[value];
		passing->state.value.thread = waker;
	} else if (state_is_on_cpu(kind)) {
		passing->state.cpu = value;
	}
}

/* The call path of a wait may be recorded when it ends: the block in which it does so knows. */
static void learn_value(struct passing *passing, const struct state_block *block, const struct state_origin *origin)
{
	if (passing->state.kind == STATE_BLOCKED && origin->kind == RECORD_BLOCKED &&
	    origin->since_ns == passing->state.begin_ns)
		passing->state.value = block->values[origin->value];
}

static void take_record(const struct pass *pass, const struct state_block *block, const struct state_record *record,
			size_t which)
{
	struct passing *passing = &pass->passing[which];
	uint32_t waker = record->waker ? block->threads[record->waker - 1].number : 0;

	if (passing->lives) {
		learn_value(passing, block, &block->threads[record->who]);
		end_state(pass, which, record->time_ns);
	}
	if (record->kind == RECORD_END)
		tell_held(pass, which, STATES_NO_CPU);
	begin_state(passing, block, record->kind, record->time_ns, record->value, waker);
}

/* The place of a thread among those that are asked for, or NO_THREAD. */
static uint32_t find_thread(const struct pass *pass, uint32_t thread)
{
	size_t low = BOUND(0, pass->count, i, pass->threads[i] < thread);

	return low < pass->count && pass->threads[low] == thread ? low : NO_THREAD;
}

/* Of the first block it counts what threads did when it began. */
static void take_block(const struct pass *pass, const struct state_block *block, bool is_first)
{
	uint32_t *which = xcalloc(block->thread_count + 1, sizeof(*which));

	for (size_t i = 0; i < block->thread_count; i++) {
		const struct state_origin *origin = &block->threads[i];

		which[i] = find_thread(pass, origin->number);
		if (is_first && which[i] != NO_THREAD)
			begin_state(&pass->passing[which[i]], block, origin->kind, origin->since_ns, origin->value,
				    origin->waker);
	}
	for (size_t i = 0; i < block->record_count && block->records[i].time_ns < pass->to_ns; i++) {
		const struct state_record *record = &block->records[i];

		if (record->kind != RECORD_WOKEN && record->kind != RECORD_OWNER && which[record->who] != NO_THREAD)
			take_record(pass, block, record, which[record->who]);
	}
	free(which);
}

/* What a thread still does at the end of the stretch. */
static void end_thread(const struct pass *pass, size_t which)
{
	struct passing *passing = &pass->passing[which];
	uint64_t begin_ns = passing->state.begin_ns, end_ns = states_end_ns(pass->states);
	struct state known;

	if (begin_ns < pass->from_ns)
		begin_ns = pass->from_ns;
	if (passing->lives && passing->state.kind == STATE_BLOCKED &&
	    states_at(pass->states, pass->threads[which], begin_ns, &known) && known.kind == STATE_BLOCKED)
		passing->state.value = known.value;
	if (end_ns > pass->to_ns)
		end_ns = pass->to_ns;
	if (passing->lives && passing->state.begin_ns < end_ns)
		end_state(pass, which, end_ns);
	tell_held(pass, which, CPU_LATER);
	free(passing->held);
}

void states_each_state(struct states *states, const struct states_question *question, states_state_fn *on_state,
		       void *data)
{
	struct pass pass = {
		.states = states,
		.threads = question->threads,
		.count = question->count,
		.from_ns = question->from_ns,
		.to_ns = question->to_ns,
		.wants_cpus = question->wants_cpus,
		.on_state = on_state,
		.data = data,
	};
	bool is_first = true;

	if (!states_block_count(states) || pass.from_ns >= pass.to_ns)
		return;
	pass.passing = xcalloc(pass.count + 1, sizeof(*pass.passing));
	for (size_t number = states_block_at(states, pass.from_ns);
	     number < states_block_count(states) && states_block_begin_ns(states, number) < pass.to_ns; number++) {
		const struct open_block *open;

		states_pause(question->pause);
		open = states_block(states, number, BLOCK_RECORDS);
		if (open)
			take_block(&pass, &open->block, is_first);
		is_first &= !open;
	}
	for (size_t i = 0; i < pass.count; i++) {
		states_pause(question->pause);
		end_thread(&pass, i);
	}
	free(pass.passing);
}
