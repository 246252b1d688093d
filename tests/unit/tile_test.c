/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tiles against the history of states: at every width, what a tile says of a lane adds up to what its threads, or its CPU, did; or, of
 * chosen CPUs, to what they did there or waited for a CPU there.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/byte_cursor.h"
#include "base/memory.h"
#include "base/text.h"
#include "lanes/aligned_tile.h"
#include "lanes/lanes.h"
#include "lanes/part_choice.h"
#include "lanes/part_filter.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/state_log.h"
#include "states/states.h"
#include "values.h"

enum { THREADS = 12, CPUS = 3, STEPS = 60000, QUESTIONS = 100, LANES = THREADS + CPUS + 3 };

static struct {
	uint64_t random, now_ns, begin_ns;
	struct state_stage stage;
	uint8_t kinds[THREADS + 1]; /* what each thread does; STATE_UNKNOWN: it does not live */
	uint32_t running[CPUS];     /* numbers */
	struct lane_thread threads[THREADS];
	struct lane list[LANES];
	struct lanes lanes;
	struct part_choice *choice; /* NULL: all is asked for */
	uint32_t chosen_cpu;
	/* All states of each thread, and where it ran in each of them, or behind it. */
	struct life {
		struct state *list;
		uint32_t *cpus;
		size_t count, capacity;
	} lives[THREADS];
} w;

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (w.random >> 33) % below;
}

/* --- Lives --------------------------------------------------------------------------------------- */

static void tell(uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void leave_cpu(uint32_t number)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (w.running[cpu] == number)
			w.running[cpu] = 0;
}

static void step(uint32_t number)
{
	struct ev_sched_switch out = { .state = SWITCH_SLEEPING, .object = pick(10), .syscall = pick(2) ? 202 : 35 };
	struct ev_sched_wake wake = { .waker = 1 + pick(THREADS), .context = WAKE_THREAD, .syscall = 202 };
	uint32_t cpu = pick(CPUS);

	switch (w.kinds[number]) {
	case STATE_UNKNOWN:
	case STATE_BLOCKED:
		tell(number, (struct state_change){ .phase = PHASE_RUNNABLE,
						    .wake = w.kinds[number] == STATE_BLOCKED ? &wake : NULL });
		w.kinds[number] = STATE_RUNNABLE;
		return;
	case STATE_RUNNABLE:
		if (w.running[cpu])
			return;
		w.running[cpu] = number;
		tell(number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = cpu });
		w.kinds[number] = STATE_RUNNING;
		return;
	}
	leave_cpu(number);
	if (!pick(300)) {
		tell(number, (struct state_change){ .phase = PHASE_DEAD });
		w.kinds[number] = STATE_UNKNOWN;
	} else {
		tell(number, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
		w.kinds[number] = STATE_BLOCKED;
	}
}

/* Threads from the sixth on do little. */
static void make_lives(uint64_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed * 0x9e3779b97f4a7c15ull + 1;
	w.now_ns = w.begin_ns = (1 + pick(100)) * 1000000000000ull;
	state_stage_open(&w.stage);
	state_log_subscribe(w.stage.log, w.stage.session);
	for (unsigned int i = 0; i < STEPS; i++) {
		w.now_ns += pick(1ull << (1 + pick(20)));
		if (!pick(STEPS / 4))
			w.now_ns += pick(20) * 1000000000ull;
		step(1 + (pick(1000) ? pick(6) : pick(THREADS)));
	}
	state_stage_finish(&w.stage, w.now_ns);
}

static void add_lane(enum lane_kind kind, uint32_t first, uint32_t count, uint32_t cpu)
{
	w.list[w.lanes.count++] = (struct lane){
		.kind = kind, .parent = LANE_NONE, .first_thread = first, .thread_count = count, .cpu = cpu
	};
}

/* Threads, some together, all together, and CPUs. */
static void make_lanes(void)
{
	w.lanes = (struct lanes){ .list = w.list, .threads = w.threads, .thread_count = THREADS };
	for (uint32_t i = 0; i < THREADS; i++) {
		w.threads[i] = (struct lane_thread){ .number = i + 1, .end_ns = UINT64_MAX };
		add_lane(LANE_THREAD, i, 1, 0);
	}
	add_lane(LANE_NAME, 2, 3, 0);
	add_lane(LANE_NAME, 8, 4, 0);
	add_lane(LANE_PROCESS, 0, THREADS, 0);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		add_lane(LANE_CPU, 0, 0, cpu);
}

/* From behind: a state is followed by the next one if that begins where it ends. */
static void find_cpus(struct life *life)
{
	life->cpus = xcalloc(life->count + 1, sizeof(*life->cpus));
	for (size_t i = life->count; i-- > 0;) {
		const struct state *state = &life->list[i];

		life->cpus[i] = STATES_NO_CPU;
		if (state->kind == STATE_RUNNING || state->kind == STATE_SPINNING)
			life->cpus[i] = state->cpu;
		else if (state->kind != STATE_UNKNOWN && i + 1 < life->count &&
			 life->list[i + 1].begin_ns == state->end_ns)
			life->cpus[i] = life->cpus[i + 1];
	}
}

static void read_lives(void)
{
	struct state_walk walk;
	struct state state;

	for (uint32_t i = 0; i < THREADS; i++) {
		struct life *life = &w.lives[i];

		states_walk(w.stage.states, i + 1, 0, UINT64_MAX, &walk);
		while (state_walk_next(&walk, &state)) {
			ARRAY_GROW(life->list, life->count, life->capacity, 256);
			life->list[life->count++] = state;
		}
		find_cpus(life);
	}
}

static void forget_lives(void)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		free(w.lives[i].list);
		free(w.lives[i].cpus);
	}
}

/* --- What is true -------------------------------------------------------------------------------- */

typedef uint64_t column_ns[SHARES];

static void add_part(column_ns *columns, unsigned int shift, uint64_t tile_ns, uint64_t begin_ns, uint64_t end_ns,
		     unsigned int share)
{
	for (unsigned int i = 0; i < TILE_COLUMNS; i++) {
		uint64_t from_ns = tile_ns + ((uint64_t)i << shift), to_ns = from_ns + (1ull << shift);
		uint64_t low = begin_ns > from_ns ? begin_ns : from_ns, high = end_ns < to_ns ? end_ns : to_ns;

		if (low < high)
			columns[i][share] += high - low;
	}
}

/* What a thread did on the chosen CPU, or before it ran there. */
static void add_chosen(column_ns *columns, unsigned int shift, uint64_t tile_ns, const struct life *life)
{
	uint64_t end_ns = tile_ns + (1ull << (shift + TILE_COLUMNS_SHIFT));

	for (size_t i = 0; i < life->count; i++)
		if (life->cpus[i] == w.chosen_cpu && life->list[i].end_ns > tile_ns && life->list[i].begin_ns < end_ns)
			add_part(columns, shift, tile_ns, life->list[i].begin_ns, life->list[i].end_ns,
				 state_share(life->list[i].kind, life->list[i].value.why));
}

static void columns_of_lane(const struct lane *lane, unsigned int shift, uint64_t tile_ns, column_ns *columns)
{
	uint64_t end_ns = tile_ns + (1ull << (shift + TILE_COLUMNS_SHIFT));
	struct state_walk walk;
	struct cpu_walk cpu_walk;
	struct cpu_state owner;
	struct state state;

	for (uint32_t i = 0; i < lane->thread_count; i++) {
		if (w.choice) {
			add_chosen(columns, shift, tile_ns, &w.lives[lane->first_thread + i]);
			continue;
		}
		states_walk(w.stage.states, w.threads[lane->first_thread + i].number, tile_ns, end_ns, &walk);
		while (state_walk_next(&walk, &state))
			add_part(columns, shift, tile_ns, state.begin_ns, state.end_ns,
				 state_share(state.kind, state.value.why));
	}
	if (lane->kind != LANE_CPU || (w.choice && lane->cpu != w.chosen_cpu))
		return;
	states_walk_cpu(w.stage.states, lane->cpu, tile_ns, end_ns, &cpu_walk);
	while (cpu_walk_next(&cpu_walk, &owner))
		add_part(columns, shift, tile_ns, owner.begin_ns, owner.end_ns,
			 owner.thread ? CPU_SHARE_TRACED
			 : owner.tid  ? CPU_SHARE_OTHER
				      : CPU_SHARE_IDLE);
}

/* --- What tiles say ------------------------------------------------------------------------------ */

static void read_slices(struct byte_cursor *cursor, const struct lane *lane, unsigned int shift, uint64_t tile_ns,
			column_ns *columns)
{
	uint64_t count = byte_cursor_uleb(cursor), at_ns = tile_ns;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin_ns = at_ns + byte_cursor_uleb(cursor), share, bits, who = 0;
		struct state state;

		at_ns = begin_ns + byte_cursor_uleb(cursor);
		share = byte_cursor_uleb(cursor);
		bits = byte_cursor_uleb(cursor);
		if (lane->kind == LANE_CPU ? share != CPU_SHARE_IDLE : share == SHARE_RUNNABLE)
			who = byte_cursor_uleb(cursor);
		assert_true(share < SHARES);
		add_part(columns, shift, tile_ns, begin_ns, at_ns, share);
		if (lane->kind == LANE_CPU)
			continue;
		assert_true(states_at(w.stage.states, w.threads[lane->first_thread].number, begin_ns, &state));
		assert_int_equal(state_share(state.kind, state.value.why), share);
		assert_int_equal(state.begin_ns < begin_ns, bits & SLICE_BEGINS_BEFORE);
		assert_int_equal(state.end_ns > at_ns, (bits & SLICE_ENDS_AFTER) != 0);
		assert_int_equal(state.kind == STATE_RUNNABLE ? state.value.thread : 0, who);
	}
}

static void read_columns(struct byte_cursor *cursor, column_ns *columns)
{
	for (unsigned int i = 0; i < TILE_COLUMNS;) {
		uint64_t repeat = byte_cursor_uleb(cursor), count = byte_cursor_uleb(cursor);
		column_ns one = { 0 };

		assert_true(repeat && repeat <= TILE_COLUMNS - i && count <= SHARES);
		while (count--) {
			uint64_t share = byte_cursor_uleb(cursor);

			assert_true(share < SHARES);
			one[share] = byte_cursor_uleb(cursor);
		}
		for (; repeat--; i++)
			memcpy(columns[i], one, sizeof(one));
	}
}

static void check_lane(struct byte_cursor *cursor, const struct lane *lane, unsigned int shift, uint64_t tile_ns)
{
	static column_ns said[TILE_COLUMNS], is[TILE_COLUMNS];

	memset(said, 0, sizeof(said));
	memset(is, 0, sizeof(is));
	columns_of_lane(lane, shift, tile_ns, is);
	switch (byte_cursor_uleb(cursor)) {
	case TILE_EMPTY:
		break;
	case TILE_SLICES:
		read_slices(cursor, lane, shift, tile_ns, said);
		break;
	case TILE_SHARES:
		read_columns(cursor, said);
		break;
	default:
		fail_msg("there is no such kind of tile");
	}
	assert_memory_equal(said, is, sizeof(said));
}

static void ask(unsigned int shift, uint64_t index)
{
	uint64_t origin_ns = tile_origin_ns(w.begin_ns);
	uint32_t ids[LANES];
	struct text out = { 0 };
	struct byte_cursor cursor;
	size_t count = 0;

	for (uint32_t i = 0; i < w.lanes.count; i++)
		if (pick(2))
			ids[count++] = i;
	tiles_put(&(struct tile_question){ .states = w.stage.states,
					   .lanes = &w.lanes,
					   .ids = ids,
					   .count = count,
					   .shift = shift,
					   .index = index,
					   .origin_ns = origin_ns,
					   .choice = w.choice },
		  &out);
	cursor = byte_cursor_new(out.bytes, out.length);
	for (size_t i = 0; i < count; i++)
		check_lane(&cursor, &w.list[ids[i]], shift, origin_ns + (index << (shift + TILE_COLUMNS_SHIFT)));
	assert_false(cursor.is_bad);
	assert_int_equal(byte_cursor_left(&cursor), 0);
	text_fini(&out);
}

static void ask_at_random(void)
{
	for (unsigned int i = 0; i < QUESTIONS; i++) {
		unsigned int shift = TILE_SHIFT_MIN + pick(30), wide = shift + TILE_COLUMNS_SHIFT;
		uint64_t time_ns = w.begin_ns + pick(w.now_ns - w.begin_ns);

		ask(shift, (time_ns - tile_origin_ns(w.begin_ns)) >> wide);
	}
	ask(TILE_SHIFT_MAX, 0);
}

TEST(tiles_add_up_to_what_threads_and_cpus_did)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		make_lives(seed);
		make_lanes();
		ask_at_random();
		state_stage_close(&w.stage);
	}
}

TEST(tiles_of_a_cpu_add_up_to_what_threads_did_there_and_waited_for_it)
{
	for (uint64_t seed = 4; seed <= 6; seed++) {
		struct part_filter filter;
		struct trace_states all = { 0 };

		make_lives(seed);
		make_lanes();
		read_lives();
		memset(&filter, 0, sizeof(filter));
		filter.cpus[0] = w.chosen_cpu = pick(CPUS);
		filter.cpu_count = 1;
		all.states = w.stage.states;
		w.choice = part_choice_new(&all, NULL, &filter);
		ask_at_random();
		part_choice_free(w.choice);
		forget_lives();
		state_stage_close(&w.stage);
	}
}

/* --- Executions, aligned where they begin --------------------------------------------------------- */

enum { ROWS = 4, PARTS_EACH = 3 };

static struct aligned_row rows[ROWS];
static struct execution_part row_parts[ROWS][PARTS_EACH];

/* Parts follow each other, some behind a break, each of another thread. */
static void make_rows(void)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		uint64_t at_ns = w.begin_ns + pick((w.now_ns - w.begin_ns) / 2);

		rows[i] = (struct aligned_row){ .begin_ns = at_ns,
						.parts = row_parts[i],
						.part_count = 1 + pick(PARTS_EACH) };
		for (size_t j = 0; j < rows[i].part_count; j++) {
			uint64_t begin_ns = at_ns + (pick(2) ? pick(1ull << 21) : 0);

			at_ns = begin_ns + pick(1ull << (10 + pick(24)));
			row_parts[i][j] = (struct execution_part){ begin_ns, at_ns, 1 + pick(THREADS), i };
		}
	}
}

/* What threads did within the parts, since the rows' beginnings. */
static void columns_of_rows(size_t count, unsigned int shift, uint64_t tile_ns, column_ns *columns)
{
	struct state_walk walk;
	struct state state;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < rows[i].part_count; j++) {
			const struct execution_part *part = &rows[i].parts[j];

			states_walk(w.stage.states, part->thread, part->begin_ns, part->end_ns, &walk);
			while (state_walk_next(&walk, &state)) {
				uint64_t begin_ns = state.begin_ns > part->begin_ns ? state.begin_ns : part->begin_ns;
				uint64_t end_ns = state.end_ns < part->end_ns ? state.end_ns : part->end_ns;

				if (begin_ns < end_ns)
					add_part(columns, shift, tile_ns, begin_ns - rows[i].begin_ns,
						 end_ns - rows[i].begin_ns, state_share(state.kind, state.value.why));
			}
		}
}

static void read_changes(struct byte_cursor *cursor, unsigned int shift, uint64_t tile_ns, column_ns *columns)
{
	uint64_t count = byte_cursor_uleb(cursor), at_ns = tile_ns;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin_ns = at_ns + byte_cursor_uleb(cursor), share;

		at_ns = begin_ns + byte_cursor_uleb(cursor);
		share = byte_cursor_uleb(cursor);
		byte_cursor_uleb(cursor);
		if (share == SHARE_RUNNABLE)
			byte_cursor_uleb(cursor);
		assert_true(share < SHARES && begin_ns < at_ns);
		add_part(columns, shift, tile_ns, begin_ns, at_ns, share);
	}
}

static void check_rows(const struct aligned_row *asked, size_t count, unsigned int shift, uint64_t index)
{
	static column_ns said[TILE_COLUMNS], is[TILE_COLUMNS];
	uint64_t tile_ns = index << (shift + TILE_COLUMNS_SHIFT);
	struct text out = { 0 };
	struct byte_cursor cursor;
	uint64_t kind;

	memset(said, 0, sizeof(said));
	memset(is, 0, sizeof(is));
	aligned_tile_put(w.stage.states, asked, count, shift, index, &out);
	cursor = byte_cursor_new(out.bytes, out.length);
	kind = byte_cursor_uleb(&cursor);
	if (kind == TILE_SLICES)
		read_changes(&cursor, shift, tile_ns, said);
	else if (kind == TILE_SHARES)
		read_columns(&cursor, said);
	columns_of_rows(count, shift, tile_ns, is);
	assert_memory_equal(said, is, sizeof(said));
	assert_false(cursor.is_bad);
	assert_int_equal(byte_cursor_left(&cursor), 0);
	text_fini(&out);
}

/* The same rows, of which some have their states with them, as far as there is room. */
static void keep_some(struct aligned_row *kept, size_t count, struct aligned_slices *slices)
{
	size_t at = 0, max = pick(4000);

	memcpy(kept, rows, count * sizeof(*kept));
	for (size_t i = 0; i < count; i++)
		if (!pick(4) || !aligned_slices_add(w.stage.states, &rows[i], max, slices, &kept[i].slice_count))
			kept[i].slice_count = 0;
	assert_true(slices->count <= max);
	for (size_t i = 0; i < count; i++) {
		kept[i].slices = kept[i].slice_count ? slices->list + at : NULL;
		at += kept[i].slice_count;
	}
	assert_int_equal(at, slices->count);
}

static void ask_rows(size_t count, unsigned int shift, uint64_t index)
{
	struct aligned_slices slices = { 0 };
	struct aligned_row kept[ROWS];

	check_rows(rows, count, shift, index);
	if (count > 1) {
		keep_some(kept, count, &slices);
		check_rows(kept, count, shift, index);
	}
	free(slices.list);
}

/* The sums of any part of it, too. */
static void ask_sums(void)
{
	uint64_t from_ns = pick(1ull << 24), to_ns = from_ns + pick(1ull << 34), ns[SHARES] = { 0 };
	uint64_t of_kept[SHARES] = { 0 };
	struct aligned_slices slices = { 0 };
	struct aligned_row kept;
	column_ns is[TILE_COLUMNS] = { 0 }, before[TILE_COLUMNS] = { 0 };

	aligned_add_shares(w.stage.states, rows, from_ns, to_ns, ns);
	keep_some(&kept, 1, &slices);
	aligned_add_shares(w.stage.states, &kept, from_ns, to_ns, of_kept);
	assert_memory_equal(of_kept, ns, sizeof(ns));
	free(slices.list);
	columns_of_rows(1, 40, 0, is);
	for (size_t j = 0; j < rows[0].part_count; j++) {
		struct execution_part *part = &row_parts[0][j];
		uint64_t low = rows[0].begin_ns + from_ns, high = rows[0].begin_ns + to_ns;

		part->begin_ns = part->begin_ns < low ? low : part->begin_ns;
		part->end_ns = part->end_ns > high ? high : part->end_ns;
		if (part->end_ns < part->begin_ns)
			part->end_ns = part->begin_ns;
	}
	columns_of_rows(1, 40, 0, before);
	for (unsigned int share = 0; share < SHARES; share++) {
		assert_int_equal(ns[share], before[0][share]);
		assert_true(ns[share] <= is[0][share]);
	}
}

TEST(tiles_of_executions_add_up_to_what_their_threads_did_since_they_begin)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		make_lives(seed);
		for (unsigned int i = 0; i < QUESTIONS; i++) {
			unsigned int shift = TILE_SHIFT_MIN + pick(20);

			make_rows();
			ask_rows(1, shift, pick(3));
			ask_rows(ROWS, shift, pick(3));
			ask_sums();
		}
		ask_rows(ROWS, TILE_SHIFT_MAX, 0);
		state_stage_close(&w.stage);
	}
}
