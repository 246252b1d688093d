/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_index.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "states/share_log.h"
#include "trace/trace_reader.h"

enum { OPEN_WINDOWS = 16 };

/* A cell of a thread with a change in it. */
struct cell {
	uint32_t thread;
	uint8_t index, first, last; /* in the window; shares that it begins and ends with */
	uint32_t at;                /* of its shares */
};

struct share {
	uint8_t share;
	uint64_t ns;
};

struct window {
	size_t chunk;
	uint64_t used;
	struct cell *cells; /* by thread and index */
	size_t cell_count;
	struct share *shares; /* of the cells; each cell's end with one of 0 ns */
	size_t share_count, share_capacity;
};

struct share_index {
	struct trace_reader *file;
	struct place {
		uint64_t first_ns;
		size_t chunk;
	} * levels[SHARE_LEVELS]; /* by time */
	size_t counts[SHARE_LEVELS], capacities[SHARE_LEVELS];
	size_t chunks; /* of the file, that were looked at */
	struct window windows[OPEN_WINDOWS];
	uint64_t uses;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

struct share_index *share_index_new(struct trace_reader *file)
{
	struct share_index *index = xcalloc(1, sizeof(*index));

	index->file = file;
	share_index_grow(index);
	return index;
}

void share_index_grow(struct share_index *index)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(index->file, &count);

	for (; index->chunks < count; index->chunks++) {
		unsigned int level = places[index->chunks].count;

		if (places[index->chunks].kind != TRACE_CHUNK_STATE_SHARES || level >= SHARE_LEVELS)
			continue;
		ARRAY_GROW(index->levels[level], index->counts[level], index->capacities[level], 16);
		index->levels[level][index->counts[level]++] =
			(struct place){ places[index->chunks].first_ns, index->chunks };
	}
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		if (index->counts[level])
			qsort(index->levels[level], index->counts[level], sizeof(*index->levels[level]),
			      compare_places);
}

static void window_fini(struct window *window)
{
	free(window->cells);
	free(window->shares);
	*window = (struct window){ 0 };
}

void share_index_free(struct share_index *index)
{
	if (!index)
		return;
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		free(index->levels[level]);
	for (size_t i = 0; i < OPEN_WINDOWS; i++)
		window_fini(&index->windows[i]);
	free(index);
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->index > y->index) - (x->index < y->index);
}

static void add_share(struct window *window, uint8_t share, uint64_t ns)
{
	ARRAY_GROW(window->shares, window->share_count, window->share_capacity, 1024);
	window->shares[window->share_count++] = (struct share){ share, ns };
}

static void read_cells(struct window *window, struct byte_cursor *cursor)
{
	size_t capacity = 0;

	while (byte_cursor_left(cursor)) {
		struct cell cell = { .thread = byte_cursor_uleb(cursor) };
		uint64_t count, share;

		cell.index = byte_cursor_uleb(cursor);
		cell.first = byte_cursor_uleb(cursor);
		cell.last = byte_cursor_uleb(cursor);
		cell.at = window->share_count;
		count = byte_cursor_uleb(cursor);
		for (uint64_t i = 0; i < count && !cursor->is_bad; i++) {
			share = byte_cursor_uleb(cursor);
			add_share(window, share < SHARES ? share : SHARE_UNKNOWN, byte_cursor_uleb(cursor));
		}
		add_share(window, 0, 0);
		if (cursor->is_bad || cell.first >= SHARES || cell.last >= SHARES)
			return;
		ARRAY_GROW(window->cells, window->cell_count, capacity, 1024);
		window->cells[window->cell_count++] = cell;
	}
}

static const struct window *open_window(struct share_index *index, size_t chunk)
{
	struct window *window = &index->windows[0];
	struct byte_cursor cursor;
	const void *content;
	size_t size_bytes;

	for (size_t i = 0; i < OPEN_WINDOWS; i++) {
		if (index->windows[i].used && index->windows[i].chunk == chunk) {
			index->windows[i].used = ++index->uses;
			return &index->windows[i];
		}
		if (index->windows[i].used < window->used)
			window = &index->windows[i];
	}
	window_fini(window);
	if (trace_reader_content(index->file, chunk, &content, &size_bytes))
		return NULL;
	cursor = byte_cursor_new(content, size_bytes);
	read_cells(window, &cursor);
	if (window->cell_count)
		qsort(window->cells, window->cell_count, sizeof(*window->cells), compare_cells);
	window->chunk = chunk;
	window->used = ++index->uses;
	return window;
}

/* NULL: it is not kept. */
static const struct window *find_window(struct share_index *index, unsigned int level, uint64_t first_ns)
{
	size_t low = BOUND(0, index->counts[level], i, index->levels[level][i].first_ns < first_ns);

	if (low == index->counts[level] || index->levels[level][low].first_ns != first_ns)
		return NULL;
	return open_window(index, index->levels[level][low].chunk);
}

/* The first cell of the window at or behind this one. */
static size_t find_cell(const struct window *window, const struct cell *cell)
{
	return BOUND(0, window->cell_count, i, compare_cells(&window->cells[i], cell) < 0);
}

/* What the thread did all through a cell without a change, as the cells before and behind it tell. */
static bool steady_share(const struct window *window, size_t at, uint32_t thread, uint8_t *share)
{
	const struct cell *before = at ? &window->cells[at - 1] : NULL;
	const struct cell *behind = at < window->cell_count ? &window->cells[at] : NULL;

	if (!before || !behind || before->thread != thread || behind->thread != thread || before->last != behind->first)
		return false;
	*share = before->last;
	return true;
}

enum share_recorded share_index_add(struct share_index *index, unsigned int level, uint64_t cell, uint32_t thread,
				    uint64_t ns[SHARES])
{
	unsigned int shift = SHARE_SHIFT + level;
	struct cell wanted = { .thread = thread, .index = cell & ((1 << SHARE_WINDOW_SHIFT) - 1) };
	const struct window *window =
		find_window(index, level, (cell >> SHARE_WINDOW_SHIFT) << (shift + SHARE_WINDOW_SHIFT));
	uint8_t share;
	size_t at;

	if (!window)
		return SHARE_NOT_KEPT;
	at = find_cell(window, &wanted);
	if (at < window->cell_count && !compare_cells(&window->cells[at], &wanted)) {
		/* A number that came back has several. */
		for (; at < window->cell_count && !compare_cells(&window->cells[at], &wanted); at++)
			for (size_t i = window->cells[at].at; window->shares[i].ns; i++)
				ns[window->shares[i].share] += window->shares[i].ns;
		return SHARE_ADDED;
	}
	if (!steady_share(window, at, thread, &share))
		return SHARE_IS_ONE;
	ns[share] += 1ull << shift;
	return SHARE_ADDED;
}
