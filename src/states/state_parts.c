/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How threads and CPUs spent equal columns of time: summaries where they are kept, and elsewhere the changes, block after block, for
 * all that are asked for at once.
 */
#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "states/late_causes.h"
#include "states/share_cells.h"
#include "states/share_index.h"
#include "states/states_internal.h"
#include "states/thread_windows.h"

_Static_assert(STATES_COLUMNS == 1 << SHARE_WINDOW_SHIFT, "a window of summaries has all columns");

struct asking {
	struct states *states;
	struct share_index *index;
	const uint32_t *whom; /* numbers of threads, or of a CPU */
	size_t count;
	uint64_t from_ns;
	unsigned int shift;
	const struct states_pause *pause;
	states_part_fn *on_part;
	void *data;
	bool is_cpu;
};

/* --- Summaries ------------------------------------------------------------------------------ */

struct telling {
	const struct asking *asking;
	size_t which;
};

static void tell_part(void *data, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	const struct telling *telling = data;

	if (share != CPU_SHARE_UNKNOWN || !telling->asking->is_cpu)
		telling->asking->on_part(telling->asking->data, telling->which, begin_ns, end_ns, share);
}

/* Of cells [from, to) of a level, in one window. */
static void take_summaries(const struct asking *asking, unsigned int level, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < asking->count; i++)
		share_index_each(asking->index, level, from, to, asking->whom[i], tell_part,
				 &(struct telling){ asking, i });
}

/* Tells of a stretch of which summaries do not say all. */
typedef void walk_fn(const struct asking *asking, uint64_t from_ns, uint64_t to_ns);

/* Around a gap, summaries do not know when what a thread did became unknown: cells without one are taken from levels below. */
static void take_cell(const struct asking *asking, walk_fn *walk, unsigned int level, uint64_t cell)
{
	uint64_t begin_ns = cell << (SHARE_SHIFT + level), end_ns = begin_ns + (1ull << (SHARE_SHIFT + level));
	bool is_kept = share_index_has(asking->index, level, cell);

	if (is_kept && !state_gaps_touch(states_gaps(asking->states), begin_ns, end_ns)) {
		take_summaries(asking, level, cell, cell + 1);
	} else if (is_kept && level) {
		take_cell(asking, walk, level - 1, 2 * cell);
		take_cell(asking, walk, level - 1, 2 * cell + 1);
	} else {
		walk(asking, begin_ns, end_ns);
	}
}

static bool has_gap(const struct asking *asking, uint64_t from, uint64_t to)
{
	return state_gaps_touch(states_gaps(asking->states), from << asking->shift, to << asking->shift);
}

static void ask(const struct asking *asking, walk_fn *walk)
{
	uint64_t first = asking->from_ns >> asking->shift, behind = first + STATES_COLUMNS, end;
	unsigned int level = asking->shift - SHARE_SHIFT;

	if (asking->shift < SHARE_SHIFT || !share_index_has(asking->index, level, first)) {
		walk(asking, asking->from_ns, behind << asking->shift);
		return;
	}
	for (uint64_t at = first; at < behind; at = end) {
		end = at + 1;
		if (has_gap(asking, at, end)) {
			take_cell(asking, walk, level, at);
			continue;
		}
		while (end < behind && !has_gap(asking, end, end + 1))
			end++;
		take_summaries(asking, level, at, end);
	}
}

/* --- Changes of threads --------------------------------------------------------------------- */

#define NO_BLOCK SIZE_MAX

struct walking {
	const struct asking *asking;
	uint64_t from_ns, to_ns;
	size_t block;  /* its number */
	bool is_first; /* nothing was walked yet */
	/* What each of them does. */
	struct doing {
		uint64_t since_ns;
		size_t block; /* that it began in; NO_BLOCK: an earlier one than was walked */
		uint8_t share;
		bool lives;
	} * doing;
};

/* With the cause that a wait turned out to have after its block was written. */
static uint8_t share_of(const struct walking *walking, size_t which)
{
	const struct doing *doing = &walking->doing[which];

	if (doing->share < SHARE_BLOCKED || doing->block == walking->block)
		return doing->share;
	return late_causes_share(states_late_causes(walking->asking->states), walking->asking->whom[which],
				 doing->since_ns, doing->share);
}

/* Up to end_ns a thread did what it does; behind the beginning of a gap that is unknown. */
static void tell_doing(const struct walking *walking, size_t which, uint64_t end_ns)
{
	const struct asking *asking = walking->asking;
	const struct doing *doing = &walking->doing[which];
	uint64_t begin_ns = doing->since_ns > walking->from_ns ? doing->since_ns : walking->from_ns, known_ns;
	const struct state_gap *gap;

	if (end_ns > walking->to_ns)
		end_ns = walking->to_ns;
	if (!doing->lives || begin_ns >= end_ns)
		return;
	gap = state_gaps_after(states_gaps(asking->states), doing->since_ns);
	known_ns = gap && gap->begin_ns < end_ns ? gap->begin_ns : end_ns;
	if (begin_ns < known_ns)
		asking->on_part(asking->data, which, begin_ns, known_ns, share_of(walking, which));
	if (known_ns < begin_ns)
		known_ns = begin_ns;
	if (known_ns < end_ns)
		asking->on_part(asking->data, which, known_ns, end_ns, SHARE_UNKNOWN);
}

static struct doing doing_of(const struct state_block *block, size_t number, uint64_t since_ns, uint8_t kind,
			     uint32_t value)
{
	return (struct doing){
		.since_ns = since_ns,
		.block = number,
		.share = state_share(state_kind_of_record(kind), kind == RECORD_BLOCKED ? block->values[value].why : 0),
		.lives = kind != RECORD_END,
	};
}

/* The place of a thread among those that are asked for, or NO_THREAD. */
static uint32_t find_thread(const struct asking *asking, uint32_t thread)
{
	size_t low = BOUND(0, asking->count, i, asking->whom[i] < thread);

	return low < asking->count && asking->whom[low] == thread ? low : NO_THREAD;
}

static void walk_records(struct walking *walking, const struct state_block *block, const uint32_t *which)
{
	for (size_t i = 0; i < block->record_count && block->records[i].time_ns < walking->to_ns; i++) {
		const struct state_record *record = &block->records[i];
		bool is_state = record->kind != RECORD_WOKEN && record->kind != RECORD_OWNER;

		if (!is_state || which[record->who] == NO_THREAD)
			continue;
		tell_doing(walking, which[record->who], record->time_ns);
		walking->doing[which[record->who]] =
			doing_of(block, walking->block, record->time_ns, record->kind, record->value);
	}
}

/* Of the first block it counts what threads did when it began. */
static void walk_block(struct walking *walking, const struct state_block *block)
{
	uint32_t *which = xcalloc(block->thread_count + 1, sizeof(*which));

	for (size_t i = 0; i < block->thread_count; i++) {
		const struct state_origin *origin = &block->threads[i];

		which[i] = find_thread(walking->asking, origin->number);
		if (walking->is_first && which[i] != NO_THREAD)
			walking->doing[which[i]] =
				doing_of(block, NO_BLOCK, origin->since_ns, origin->kind, origin->value);
	}
	walk_records(walking, block, which);
	free(which);
}

/* The changes of one thread in a window of blocks; only the first window counts what it did when that began. */
static void walk_changes(void *data, size_t which, struct thread_changes *changes)
{
	struct walking *walking = data;
	struct doing *doing = &walking->doing[which];
	bool is_ever_late = late_causes_has(states_late_causes(walking->asking->states), walking->asking->whom[which]);
	size_t block = is_ever_late ? NO_BLOCK : walking->block;

	if (walking->is_first)
		*doing = (struct doing){ changes->since_ns, NO_BLOCK, changes->share, changes->share != SHARE_ABSENT };
	while (thread_changes_next(changes) && changes->at_ns < walking->to_ns) {
		tell_doing(walking, which, changes->at_ns);
		*doing = (struct doing){ changes->at_ns, block, changes->share, changes->share != SHARE_ABSENT };
	}
}

/* Going through a block costs as much as through so many of its changes by thread: it has to be unpacked. */
enum { BLOCK_COST = 4 };

/* The window of blocks from this one on whose changes are faster to be had by thread; NULL: there is none. */
static const struct thread_window *find_window(const struct walking *walking, size_t number)
{
	const struct asking *asking = walking->asking;
	const struct thread_windows *windows = states_thread_windows(asking->states);
	const struct thread_window *window = thread_windows_find(windows, number);
	size_t behind = number;

	if (!window || (number > window->first_block && !walking->is_first))
		return NULL;
	while (behind < window->end_block && states_block_begin_ns(asking->states, behind) < walking->to_ns)
		behind++;
	if (thread_windows_groups(windows, window, asking->whom, asking->count) *
		    (window->end_block - window->first_block) >
	    window->group_count * (behind - number) * BLOCK_COST)
		return NULL;
	return window;
}

/* From the block with this number on. Returns the number of the next one. */
static size_t walk_next(struct walking *walking, size_t number)
{
	const struct asking *asking = walking->asking;
	const struct thread_window *window = find_window(walking, number);
	const struct open_block *open;

	states_pause(asking->pause);
	walking->block = number;
	if (window && thread_windows_each(states_thread_windows(asking->states), window, asking->whom, asking->count,
					  walk_changes, walking)) {
		walking->is_first = false;
		return window->end_block;
	}
	open = states_block(asking->states, number, BLOCK_RECORDS);
	if (open)
		walk_block(walking, &open->block);
	walking->is_first &= !open;
	return number + 1;
}

static void walk_threads(const struct asking *asking, uint64_t from_ns, uint64_t to_ns)
{
	struct walking walking = {
		.asking = asking,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.is_first = true,
		.doing = xcalloc(asking->count + 1, sizeof(*walking.doing)),
	};
	size_t number = states_block_at(asking->states, from_ns);

	while (number < states_block_count(asking->states) && states_block_begin_ns(asking->states, number) < to_ns)
		number = walk_next(&walking, number);
	walking.block = number;
	for (size_t i = 0; i < asking->count; i++)
		tell_doing(&walking, i, states_end_ns(asking->states));
	free(walking.doing);
}

void states_each_part(struct states *states, const uint32_t *threads, size_t count, uint64_t from_ns,
		      unsigned int shift, const struct states_pause *pause, states_part_fn *on_part, void *data)
{
	struct asking asking = {
		.states = states,
		.index = states_share_index(states),
		.whom = threads,
		.count = count,
		.from_ns = from_ns,
		.shift = shift,
		.pause = pause,
		.on_part = on_part,
		.data = data,
	};

	if (states_block_count(states))
		ask(&asking, walk_threads);
}

/* --- Changes of CPUs ------------------------------------------------------------------------ */

static void walk_cpu(const struct asking *asking, uint64_t from_ns, uint64_t to_ns)
{
	struct cpu_state state;
	struct cpu_walk walk;

	states_walk_cpu(asking->states, *asking->whom, from_ns, to_ns, &walk);
	while (cpu_walk_next(&walk, &state))
		asking->on_part(asking->data, 0, state.begin_ns, state.end_ns, cpu_state_share(&state));
}

void states_each_cpu_part(struct states *states, uint32_t cpu, uint64_t from_ns, unsigned int shift,
			  states_part_fn *on_part, void *data)
{
	struct asking asking = {
		.states = states,
		.index = states_cpu_index(states),
		.whom = &cpu,
		.count = 1,
		.from_ns = from_ns,
		.shift = shift,
		.on_part = on_part,
		.data = data,
		.is_cpu = true,
	};

	if (states_block_count(states))
		ask(&asking, walk_cpu);
}
