/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/late_causes.h"
#include "states/share_index.h"
#include "states/states_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "states/activity.h"
#include "states/change_lists.h"
#include "states/grown_totals.h"
#include "states/state_total.h"
#include "states/thread_windows.h"
#include "trace/trace_reader.h"
#include "trace/trace_threads.h"

enum { OPEN_BLOCKS = 8 };

struct states {
	struct trace_reader *file;
	struct block_place {
		size_t chunk; /* of the file */
		uint64_t first_ns, last_ns;
		bool is_damaged; /* as somebody who asked has found */
	} * blocks;
	size_t block_count, block_capacity, damaged_count;
	struct open_block open[OPEN_BLOCKS];
	uint64_t uses;
	struct change_lists changes;
	struct state_gaps gaps;
	struct share_index *shares, *cpu_shares;
	struct thread_windows *by_thread;
	struct late_causes *late;
	struct activities *activities;
	bool is_growing;
	size_t chunks;               /* of the file, that were looked at, if it grows */
	struct grown_totals *totals; /* NULL: it does not */
};

/* --- Opening -------------------------------------------------------------------------------- */

/* They do not overlap: what is read one after the other is in time order. */
static int add_block(struct states *states, const struct trace_place *place, size_t chunk)
{
	if (place->first_ns < states_end_ns(states) || place->last_ns < place->first_ns)
		return -EBADMSG;
	ARRAY_GROW(states->blocks, states->block_count, states->block_capacity, 64);
	states->blocks[states->block_count++] = (struct block_place){
		.chunk = chunk,
		.first_ns = place->first_ns,
		.last_ns = place->last_ns,
	};
	return 0;
}

/* They come behind the last block that they are about. */
static void add_threads(struct states *states, const struct trace_place *place, size_t chunk)
{
	thread_windows_add(states->by_thread, place, chunk, states_block_at(states, place->first_ns),
			   states->block_count);
}

static int find_blocks(struct states *states)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(states->file, &count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		if (places[i].kind == TRACE_CHUNK_STATES)
			err = add_block(states, &places[i], i);
		else if (places[i].kind == TRACE_CHUNK_STATE_THREADS)
			add_threads(states, &places[i], i);
	return err;
}

/* All there have been up to then: a later one has the earlier ones, too. */
static void take_gaps(struct states *states, const void *bytes, size_t size_bytes)
{
	const struct state_gap *gaps = bytes;

	states->gaps.count = 0;
	for (size_t i = 0; i < size_bytes / sizeof(*gaps); i++)
		state_gaps_add(&states->gaps, gaps[i].begin_ns, gaps[i].end_ns);
}

static int read_parts(struct states *states)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(states->file, &count);
	const void *content;
	int err;

	states->by_thread = thread_windows_new(states->file);
	err = find_blocks(states);
	for (size_t i = 0; i < count && !err; i++) {
		if (places[i].kind != TRACE_CHUNK_STATE_PLACES && places[i].kind != TRACE_CHUNK_STATE_GAPS)
			continue;
		err = trace_reader_content(states->file, i, &content, &size_bytes);
		if (err)
			break;
		if (places[i].kind == TRACE_CHUNK_STATE_GAPS)
			take_gaps(states, content, size_bytes);
		else
			err = change_lists_take(&states->changes, content, size_bytes);
	}
	change_lists_sort(&states->changes);
	states->late = late_causes_new(states->file);
	states->shares = share_index_new(states->file, TRACE_CHUNK_STATE_SHARES, states->late);
	states->cpu_shares = share_index_new(states->file, TRACE_CHUNK_CPU_SHARES, NULL);
	states->activities = activities_new(states->file);
	return err;
}

int states_open(const char *path, struct states **out)
{
	struct states *states = xcalloc(1, sizeof(*states));
	int err = trace_reader_open(path, &states->file);

	if (!err)
		trace_reader_allow_threads(states->file, TRACE_THREADS_EVER_MAX, TRACE_THREADS_EVER_MAX);
	if (!err)
		err = read_parts(states);
	if (!err && !trace_reader_extent(states->file)->is_ended)
		err = -EBADMSG;
	if (err)
		states_close(states);
	else
		*out = states;
	return err;
}

/* --- A file that grows ------------------------------------------------------------------------ */

static int take_grown_part(struct states *states, const struct trace_place *place, size_t chunk)
{
	const void *content = NULL;
	size_t size_bytes = 0;
	int err;

	if (place->kind == TRACE_CHUNK_STATES)
		return add_block(states, place, chunk);
	if (place->kind == TRACE_CHUNK_STATE_THREADS)
		add_threads(states, place, chunk);
	if (place->kind != TRACE_CHUNK_STATE_PLACES && place->kind != TRACE_CHUNK_STATE_GAPS &&
	    place->kind != TRACE_CHUNK_STATE_TOTALS)
		return 0;
	err = trace_reader_content(states->file, chunk, &content, &size_bytes);
	if (err)
		return err;
	if (place->kind == TRACE_CHUNK_STATE_PLACES)
		return change_lists_grow(&states->changes, content, size_bytes);
	if (place->kind == TRACE_CHUNK_STATE_TOTALS)
		return grown_totals_take(states->totals, content, size_bytes, place->count == STATE_TOTALS_ONGOING);
	take_gaps(states, content, size_bytes);
	return 0;
}

int states_grow(struct states *states)
{
	int err = trace_reader_grow(states->file);
	size_t count;
	const struct trace_place *places = trace_reader_places(states->file, &count);

	for (; states->chunks < count && !err; states->chunks++)
		err = take_grown_part(states, &places[states->chunks], states->chunks);
	late_causes_grow(states->late);
	share_index_grow(states->shares);
	share_index_grow(states->cpu_shares);
	activities_grow(states->activities);
	return err;
}

int states_open_growing(const char *path, struct states **out)
{
	struct states *states = xcalloc(1, sizeof(*states));
	int err = trace_reader_open(path, &states->file);

	if (!err) {
		trace_reader_allow_threads(states->file, TRACE_THREADS_EVER_MAX, TRACE_THREADS_EVER_MAX);
		states->is_growing = true;
		states->totals = grown_totals_new();
		states->by_thread = thread_windows_new(states->file);
		states->late = late_causes_new(states->file);
		states->shares = share_index_new(states->file, TRACE_CHUNK_STATE_SHARES, states->late);
		states->cpu_shares = share_index_new(states->file, TRACE_CHUNK_CPU_SHARES, NULL);
		states->activities = activities_new(states->file);
		err = states_grow(states);
	}
	if (err)
		states_close(states);
	else
		*out = states;
	return err;
}

bool states_are_growing(const struct states *states)
{
	return states->is_growing;
}

void states_close(struct states *states)
{
	if (!states)
		return;
	for (size_t i = 0; i < OPEN_BLOCKS; i++)
		open_block_fini(&states->open[i]);
	share_index_free(states->shares);
	share_index_free(states->cpu_shares);
	thread_windows_free(states->by_thread);
	late_causes_free(states->late);
	activities_free(states->activities);
	grown_totals_free(states->totals);
	state_gaps_fini(&states->gaps);
	change_lists_fini(&states->changes);
	free(states->blocks);
	if (states->file)
		trace_reader_close(states->file);
	free(states);
}

/* --- What others ask ------------------------------------------------------------------------ */

struct trace_reader *states_file(const struct states *states)
{
	return states->file;
}

uint64_t states_begin_ns(const struct states *states)
{
	return states->block_count ? states->blocks[0].first_ns : 0;
}

uint64_t states_end_ns(const struct states *states)
{
	return states->block_count ? states->blocks[states->block_count - 1].last_ns : 0;
}

uint64_t states_known_until_ns(const struct states *states)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(states->file, &count);

	for (size_t i = count; i; i--)
		if (places[i - 1].kind == TRACE_CHUNK_STATE_GAPS)
			return places[i - 1].last_ns;
	return 0;
}

void states_each_total(struct states *states,
		       void (*on_total)(void *data, uint32_t thread, const struct state_total *total), void *data)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(states->file, &count);
	const void *content;

	if (states->totals) {
		grown_totals_each(states->totals, on_total, data);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct byte_cursor cursor;
		struct state_total total;
		uint32_t thread;

		if (places[i].kind != TRACE_CHUNK_STATE_TOTALS || places[i].count == STATE_TOTALS_ONGOING)
			continue;
		if (trace_reader_content(states->file, i, &content, &size_bytes)) {
			states->damaged_count++;
			continue;
		}
		cursor = byte_cursor_new(content, size_bytes);
		while (byte_cursor_left(&cursor) && state_total_read(&cursor, &thread, &total))
			on_total(data, thread, &total);
	}
}

bool states_have_gaps(const struct states *states)
{
	return states->gaps.count;
}

size_t states_damaged_count(const struct states *states)
{
	return states->damaged_count;
}

const struct state_gaps *states_gaps(const struct states *states)
{
	return &states->gaps;
}

struct share_index *states_share_index(const struct states *states)
{
	return states->shares;
}

const struct late_causes *states_late_causes(const struct states *states)
{
	return states->late;
}

struct share_index *states_cpu_index(const struct states *states)
{
	return states->cpu_shares;
}

struct thread_windows *states_thread_windows(const struct states *states)
{
	return states->by_thread;
}

struct activities *states_activities(const struct states *states)
{
	return states->activities;
}

size_t states_block_count(const struct states *states)
{
	return states->block_count;
}

uint64_t states_block_begin_ns(const struct states *states, size_t number)
{
	return number < states->block_count ? states->blocks[number].first_ns : states_end_ns(states);
}

size_t states_block_at(const struct states *states, uint64_t time_ns)
{
	size_t low = BOUND(0, states->block_count, i, states->blocks[i].first_ns <= time_ns);

	return low ? low - 1 : 0;
}

uint64_t states_next_block_ns(const struct states *states, uint64_t time_ns)
{
	size_t next = states_block_at(states, time_ns) + 1;

	return next < states->block_count ? states->blocks[next].first_ns : UINT64_MAX;
}

static struct open_block *least_used(struct states *states)
{
	struct open_block *least = &states->open[0];

	for (size_t i = 1; i < OPEN_BLOCKS; i++)
		if (states->open[i].used < least->used)
			least = &states->open[i];
	return least;
}

static bool read_block(struct states *states, size_t number, struct state_block *block)
{
	const struct block_place *place = &states->blocks[number];
	const void *content;
	size_t size_bytes;

	if (trace_reader_content(states->file, place->chunk, &content, &size_bytes) ||
	    state_block_decode(content, size_bytes, block))
		return false;
	if (block->first_ns == place->first_ns && block->last_ns == place->last_ns)
		return true;
	state_block_fini(block);
	return false;
}

const struct open_block *states_block(struct states *states, size_t number, enum block_need need)
{
	struct open_block *open;

	for (size_t i = 0; i < OPEN_BLOCKS; i++) {
		open = &states->open[i];
		if (open->used && open->number == number) {
			open->used = ++states->uses;
			open_block_index(open, need);
			return open;
		}
	}
	/* Each query comes here again: it would be unpacked without effect each time. */
	if (number >= states->block_count || states->blocks[number].is_damaged)
		return NULL;
	open = least_used(states);
	open_block_fini(open);
	if (!read_block(states, number, &open->block)) {
		states->blocks[number].is_damaged = true;
		states->damaged_count++;
		return NULL;
	}
	open_block_index(open, need);
	open->number = number;
	open->used = ++states->uses;
	return open;
}

size_t states_next_block(struct states *states, uint32_t thread, size_t after)
{
	return change_lists_next(&states->changes, thread, after, states->block_count);
}

void states_each_thread(const struct states *states, void (*on_thread)(void *data, uint32_t thread), void *data)
{
	change_lists_each_thread(&states->changes, on_thread, data);
}
