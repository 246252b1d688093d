/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/tile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lanes/lanes.h"
#include "states/share_log.h"
#include "states/states.h"

enum { SLICES_MAX = 2 * TILE_COLUMNS, CPU_BLOCKS_MAX = 6 };

_Static_assert((int)CPU_SHARES <= (int)SHARES, "a column has space for both");

struct tile {
	struct states *states;
	uint64_t begin_ns, end_ns;
	unsigned int shift;
};

/* A stretch of time in a tile. */
struct slice {
	uint64_t begin_ns, end_ns;
	uint32_t share, who; /* who: a thread's number, a tid, or 0 */
	bool begins_before, ends_after;
};

struct slices {
	struct slice list[SLICES_MAX];
	size_t count;
};

uint64_t tile_origin_ns(uint64_t first_ns)
{
	unsigned int shift = TILE_SHIFT_MAX + TILE_COLUMNS_SHIFT;

	return first_ns >> shift << shift;
}

/* Clips it. False: there is no more space. */
static bool add_slice(struct slices *slices, const struct tile *tile, struct slice slice)
{
	if (slices->count == SLICES_MAX)
		return false;
	slice.begins_before = slice.begin_ns < tile->begin_ns;
	slice.ends_after = slice.end_ns > tile->end_ns;
	if (slice.begins_before)
		slice.begin_ns = tile->begin_ns;
	if (slice.ends_after)
		slice.end_ns = tile->end_ns;
	if (slice.begin_ns < slice.end_ns)
		slices->list[slices->count++] = slice;
	return true;
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

		if (!add_slice(out, tile, slice))
			return false;
	}
	return true;
}

static struct slice slice_of_cpu(const struct cpu_state *state)
{
	struct slice slice = { .begin_ns = state->begin_ns, .end_ns = state->end_ns, .share = CPU_IDLE };

	if (state->thread) {
		slice.share = CPU_TRACED;
		slice.who = state->thread;
	} else if (state->tid) {
		slice.share = CPU_OTHER;
		slice.who = state->tid;
	}
	return slice;
}

/* Pieces that are alike are one. */
static bool slices_of_cpu(const struct tile *tile, uint32_t cpu, struct slices *out)
{
	struct cpu_walk walk;
	struct cpu_state state;

	states_walk_cpu(tile->states, cpu, tile->begin_ns, tile->end_ns, &walk);
	while (cpu_walk_next(&walk, &state)) {
		struct slice slice = slice_of_cpu(&state);
		struct slice *last = out->count ? &out->list[out->count - 1] : NULL;

		if (last && last->end_ns == slice.begin_ns && last->share == slice.share && last->who == slice.who)
			last->end_ns = slice.end_ns;
		else if (!add_slice(out, tile, slice))
			return false;
	}
	return true;
}

static void put_slices(const struct tile *tile, const struct slices *slices, bool is_cpu, struct text *out)
{
	uint64_t at_ns = tile->begin_ns;

	text_put_varint(out, TILE_SLICES);
	text_put_varint(out, slices->count);
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];

		text_put_varint(out, slice->begin_ns - at_ns);
		text_put_varint(out, slice->end_ns - slice->begin_ns);
		text_put_varint(out, slice->share);
		text_put_varint(out, (slice->begins_before ? SLICE_BEGINS_BEFORE : 0) |
					     (slice->ends_after ? SLICE_ENDS_AFTER : 0));
		if (is_cpu ? slice->share != CPU_IDLE : slice->share == SHARE_RUNNABLE)
			text_put_varint(out, slice->who);
		at_ns = slice->end_ns;
	}
}

/* --- How much of each column ------------------------------------------------------------------- */

struct column {
	uint64_t ns[SHARES];
};

/* A stretch may reach over several. */
static void add_stretch(const struct tile *tile, struct column *columns, uint64_t begin_ns, uint64_t end_ns,
			uint32_t share)
{
	if (begin_ns < tile->begin_ns)
		begin_ns = tile->begin_ns;
	if (end_ns > tile->end_ns)
		end_ns = tile->end_ns;
	while (begin_ns < end_ns) {
		uint64_t column = (begin_ns - tile->begin_ns) >> tile->shift;
		uint64_t until_ns = tile->begin_ns + ((column + 1) << tile->shift);

		if (until_ns > end_ns)
			until_ns = end_ns;
		columns[column].ns[share] += until_ns - begin_ns;
		begin_ns = until_ns;
	}
}

static void add_cpu(const struct tile *tile, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, struct column *columns)
{
	struct cpu_walk walk;
	struct cpu_state state;

	states_walk_cpu(tile->states, cpu, from_ns, to_ns, &walk);
	while (cpu_walk_next(&walk, &state)) {
		struct slice slice = slice_of_cpu(&state);

		add_stretch(tile, columns, slice.begin_ns, slice.end_ns, slice.share);
	}
}

static void put_column(const struct column *column, struct text *out)
{
	unsigned int count = 0;

	for (unsigned int share = 0; share < SHARES; share++)
		count += column->ns[share] != 0;
	text_put_varint(out, count);
	for (unsigned int share = 0; share < SHARES; share++)
		if (column->ns[share]) {
			text_put_varint(out, share);
			text_put_varint(out, column->ns[share]);
		}
}

static void put_columns(const struct column *columns, struct text *out)
{
	unsigned int end;

	text_put_varint(out, TILE_SHARES);
	for (unsigned int i = 0; i < TILE_COLUMNS; i = end) {
		for (end = i + 1; end < TILE_COLUMNS && !memcmp(&columns[end], &columns[i], sizeof(*columns));)
			end++;
		text_put_varint(out, end - i);
		put_column(&columns[i], out);
	}
}

static bool has_any(const struct column *columns)
{
	static const struct column nothing;

	for (unsigned int i = 0; i < TILE_COLUMNS; i++)
		if (memcmp(&columns[i], &nothing, sizeof(nothing)))
			return true;
	return false;
}

/* --- Lanes of one request ----------------------------------------------------------------------- */

/* Those that have no few changes to be shown one by one; they share what is found out of a thread. */
struct wanted {
	const struct lane *lane;
	struct column *columns; /* [TILE_COLUMNS] */
	struct text slices;     /* what is put in their place; empty: columns are */
};

static void add_to_lanes(struct wanted *wanted, size_t count, uint32_t place, unsigned int column,
			 const uint64_t ns[SHARES])
{
	for (size_t i = 0; i < count; i++) {
		const struct lane *lane = wanted[i].lane;

		if (wanted[i].slices.length || place - lane->first_thread >= lane->thread_count)
			continue;
		for (unsigned int share = 0; share < SHARES; share++)
			wanted[i].columns[column].ns[share] += ns[share];
	}
}

/* The places of the threads that are asked for. Returns how many. */
static size_t find_threads(const struct lanes *lanes, const struct wanted *wanted, size_t count, uint32_t *places)
{
	bool *is_wanted = xcalloc(lanes->thread_count + 1, sizeof(*is_wanted));
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (!wanted[i].slices.length && wanted[i].lane->thread_count)
			memset(is_wanted + wanted[i].lane->first_thread, true, wanted[i].lane->thread_count);
	for (uint32_t place = 0; place < lanes->thread_count; place++)
		if (is_wanted[place])
			places[found++] = place;
	free(is_wanted);
	return found;
}

/* A thread that does the same up to a time, for all that is known. */
struct steady {
	uint8_t share;
	uint64_t until_ns;
};

/* One that is quiet for a column and more is looked at once: else another block would be unpacked for each column. */
static void add_thread(const struct tile *tile, uint32_t thread, uint64_t from_ns, struct steady *steady,
		       uint64_t ns[SHARES])
{
	uint64_t to_ns = from_ns + (1ull << tile->shift), quiet_ns;
	struct state state;

	if (steady->until_ns < to_ns) {
		quiet_ns = states_quiet_until_ns(tile->states, thread, from_ns);
		if (quiet_ns >= to_ns && states_at(tile->states, thread, from_ns, &state))
			*steady = (struct steady){ state_share(state.kind, state.value.why), quiet_ns };
	}
	if (steady->until_ns >= to_ns)
		ns[steady->share] += to_ns - from_ns;
	else
		states_add_shares(tile->states, thread, from_ns, to_ns, ns);
}

/* All threads and CPUs in one column after the other: so each block of states is unpacked once. */
static void add_columns(const struct tile *tile, const struct lanes *lanes, struct wanted *wanted, size_t count)
{
	uint32_t *places = xcalloc(lanes->thread_count + 1, sizeof(*places));
	size_t place_count = find_threads(lanes, wanted, count, places);
	struct steady *steady = xcalloc(place_count + 1, sizeof(*steady));
	uint64_t width_ns = 1ull << tile->shift;

	for (unsigned int column = 0; column < TILE_COLUMNS; column++) {
		uint64_t from_ns = tile->begin_ns + column * width_ns, to_ns = from_ns + width_ns;

		for (size_t i = 0; i < place_count; i++) {
			const struct lane_thread *thread = &lanes->threads[places[i]];
			uint64_t ns[SHARES] = { 0 };

			if (thread->end_ns <= from_ns || thread->begin_ns >= to_ns)
				continue;
			add_thread(tile, thread->number, from_ns, &steady[i], ns);
			add_to_lanes(wanted, count, places[i], column, ns);
		}
		for (size_t i = 0; i < count; i++)
			if (wanted[i].lane->kind == LANE_CPU && !wanted[i].slices.length)
				add_cpu(tile, wanted[i].lane->cpu, from_ns, to_ns, wanted[i].columns);
	}
	free(places);
	free(steady);
}

/* Whether so many blocks of the history have a part in it that CPUs are not looked at. */
static bool is_too_wide(const struct tile *tile)
{
	uint64_t at_ns = tile->begin_ns;

	for (unsigned int i = 0; i < CPU_BLOCKS_MAX && at_ns < tile->end_ns; i++)
		at_ns = states_next_block_ns(tile->states, at_ns);
	return at_ns < tile->end_ns;
}

/* Whether it has few changes, or too many to be looked at: then that is put. */
static bool put_without_columns(const struct tile *tile, const struct lanes *lanes, const struct lane *lane,
				struct text *out)
{
	struct slices slices;
	bool is_cpu = lane->kind == LANE_CPU, is_few;

	if (is_cpu && is_too_wide(tile)) {
		text_put_varint(out, TILE_TOO_WIDE);
		return true;
	}
	if (tile->shift >= SHARE_SHIFT)
		return false;
	slices.count = 0;
	if (is_cpu)
		is_few = slices_of_cpu(tile, lane->cpu, &slices);
	else
		is_few = lane->thread_count == 1 &&
			 slices_of_thread(tile, lanes->threads[lane->first_thread].number, &slices);
	if (is_few && slices.count)
		put_slices(tile, &slices, is_cpu, out);
	else if (is_few)
		text_put_varint(out, TILE_EMPTY);
	return is_few;
}

static void put_lane(struct wanted *wanted, struct text *out)
{
	if (wanted->slices.length)
		text_put_bytes(out, wanted->slices.bytes, wanted->slices.length);
	else if (has_any(wanted->columns))
		put_columns(wanted->columns, out);
	else
		text_put_varint(out, TILE_EMPTY);
	text_fini(&wanted->slices);
	free(wanted->columns);
}

void tiles_put(struct states *states, const struct lanes *lanes, const uint32_t *ids, size_t count, unsigned int shift,
	       uint64_t index, uint64_t origin_ns, struct text *out)
{
	uint64_t width_ns = 1ull << (shift + TILE_COLUMNS_SHIFT);
	struct tile tile = { .states = states, .begin_ns = origin_ns + index * width_ns, .shift = shift };
	struct wanted *wanted = xcalloc(count + 1, sizeof(*wanted));
	bool has_columns = false;

	tile.end_ns = tile.begin_ns + width_ns;
	for (size_t i = 0; i < count; i++) {
		wanted[i].lane = &lanes->list[ids[i]];
		if (put_without_columns(&tile, lanes, wanted[i].lane, &wanted[i].slices))
			continue;
		wanted[i].columns = xcalloc(TILE_COLUMNS, sizeof(*wanted[i].columns));
		has_columns = true;
	}
	if (has_columns)
		add_columns(&tile, lanes, wanted, count);
	for (size_t i = 0; i < count; i++)
		put_lane(&wanted[i], out);
	free(wanted);
}
