/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_index.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "states/late_causes.h"
#include "states/share_cells.h"
#include "trace/trace_reader.h"

enum {
	OPEN_WINDOWS = 16,
	OPEN_BYTES_MAX = 64 << 20, /* of all, unless one alone has more */
};

struct share_index {
	struct trace_reader *file;
	enum trace_chunk_kind kind;
	const struct late_causes *late;
	struct place {
		uint64_t first_ns;
		size_t chunk;
	} * levels[SHARE_LEVELS]; /* by time */
	size_t counts[SHARE_LEVELS], capacities[SHARE_LEVELS];
	size_t chunks; /* of the file, that were looked at */
	struct open_window {
		size_t chunk;
		uint64_t used; /* when, by a count of uses; 0: it is none */
		struct share_window window;
	} open[OPEN_WINDOWS];
	uint64_t uses;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

struct share_index *share_index_new(struct trace_reader *file, enum trace_chunk_kind kind,
				    const struct late_causes *late)
{
	struct share_index *index = xcalloc(1, sizeof(*index));

	index->file = file;
	index->kind = kind;
	index->late = late;
	share_index_grow(index);
	return index;
}

void share_index_grow(struct share_index *index)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(index->file, &count);

	for (; index->chunks < count; index->chunks++) {
		unsigned int level = places[index->chunks].count;

		if (places[index->chunks].kind != index->kind || level >= SHARE_LEVELS)
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

static void close_window(struct open_window *open)
{
	share_window_fini(&open->window);
	*open = (struct open_window){ 0 };
}

void share_index_free(struct share_index *index)
{
	if (!index)
		return;
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		free(index->levels[level]);
	for (size_t i = 0; i < OPEN_WINDOWS; i++)
		close_window(&index->open[i]);
	free(index);
}

/* Which one was not used for longest; one that is none comes first. */
static struct open_window *least_used(struct share_index *index)
{
	struct open_window *least = &index->open[0];

	for (size_t i = 1; i < OPEN_WINDOWS; i++)
		if (index->open[i].used < least->used)
			least = &index->open[i];
	return least;
}

/* All but this one may have to go. */
static void keep_within_budget(struct share_index *index, struct open_window *latest)
{
	size_t bytes = 0;

	for (size_t i = 0; i < OPEN_WINDOWS; i++)
		bytes += share_window_bytes(&index->open[i].window);
	for (size_t i = 0; bytes > OPEN_BYTES_MAX && i < OPEN_WINDOWS; i++) {
		if (&index->open[i] == latest)
			continue;
		bytes -= share_window_bytes(&index->open[i].window);
		close_window(&index->open[i]);
	}
}

static const struct share_window *open_window(struct share_index *index, unsigned int level, size_t chunk)
{
	struct open_window *open;
	const void *content;
	size_t size_bytes;

	for (size_t i = 0; i < OPEN_WINDOWS; i++) {
		open = &index->open[i];
		if (open->used && open->chunk == chunk) {
			open->used = ++index->uses;
			return &open->window;
		}
	}
	open = least_used(index);
	close_window(open);
	if (trace_reader_content(index->file, chunk, &content, &size_bytes) ||
	    share_window_read(content, size_bytes, 1ull << (SHARE_SHIFT + level), &open->window))
		return NULL;
	open->chunk = chunk;
	open->used = ++index->uses;
	keep_within_budget(index, open);
	return &open->window;
}

/* NULL: it is not kept, or damaged. */
static const struct share_window *find_window(struct share_index *index, unsigned int level, uint64_t cell)
{
	uint64_t first_ns = (cell >> SHARE_WINDOW_SHIFT) << (SHARE_SHIFT + level + SHARE_WINDOW_SHIFT);
	size_t low = BOUND(0, index->counts[level], i, index->levels[level][i].first_ns < first_ns);

	if (low == index->counts[level] || index->levels[level][low].first_ns != first_ns)
		return NULL;
	return open_window(index, level, index->levels[level][low].chunk);
}

static bool has_below(struct share_index *index, unsigned int level, uint64_t cell)
{
	uint64_t first = cell >> SHARE_WINDOW_SHIFT << SHARE_WINDOW_SHIFT;

	return level && find_window(index, level - 1, 2 * first) &&
	       find_window(index, level - 1, 2 * first + (1 << SHARE_WINDOW_SHIFT));
}

bool share_index_has(struct share_index *index, unsigned int level, uint64_t cell)
{
	return find_window(index, level, cell) || has_below(index, level, cell);
}

/* --- What they say -------------------------------------------------------------------------- */

static void add_ns(void *data, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	uint64_t *ns = data;

	ns[share] += end_ns - begin_ns;
}

static void correct(uint64_t ns[SHARES], const struct late_cause *late, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t low = late->begin_ns > begin_ns ? late->begin_ns : begin_ns;
	uint64_t high = late->end_ns < end_ns ? late->end_ns : end_ns;

	if (low >= high || ns[late->first] < high - low)
		return;
	ns[late->first] -= high - low;
	ns[late->share] += high - low;
}

/* One cell after the other, with the causes that some waits turned out to have. */
static void tell_corrected(const struct share_window *window, const struct share_stretch *stretch,
			   const struct late_cause *late, size_t late_count, share_part_fn *on_part, void *data)
{
	for (uint32_t cell = stretch->from; cell < stretch->to; cell++) {
		uint64_t at_ns = stretch->window_ns + ((uint64_t)cell << stretch->shift);
		struct share_stretch one = *stretch;
		uint64_t ns[SHARES] = { 0 };

		one.from = cell;
		one.to = cell + 1;
		share_window_each(window, &one, add_ns, ns);
		for (size_t i = 0; i < late_count; i++)
			correct(ns, &late[i], at_ns, at_ns + (1ull << stretch->shift));
		for (unsigned int share = 0; share < SHARES; at_ns += ns[share++])
			if (ns[share])
				on_part(data, at_ns, at_ns + ns[share], share);
	}
}

static void tell_window(const struct share_index *index, const struct share_window *window,
			const struct share_stretch *stretch, share_part_fn *on_part, void *data)
{
	uint64_t begin_ns = stretch->window_ns + ((uint64_t)stretch->from << stretch->shift);
	uint64_t end_ns = stretch->window_ns + ((uint64_t)stretch->to << stretch->shift);
	const struct late_cause *late = NULL;
	size_t late_count = 0;

	if (index->late)
		late = late_causes_in(index->late, stretch->thread, begin_ns, end_ns, &late_count);
	if (late_count)
		tell_corrected(window, stretch, late, late_count, on_part, data);
	else
		share_window_each(window, stretch, on_part, data);
}

/* Nothing, if the window is not in the file. */
static void tell_cells(struct share_index *index, unsigned int level, uint64_t from, uint64_t to, uint32_t thread,
		       share_part_fn *on_part, void *data)
{
	const struct share_window *window = from < to ? find_window(index, level, from) : NULL;
	uint64_t first = from >> SHARE_WINDOW_SHIFT << SHARE_WINDOW_SHIFT;
	struct share_stretch stretch = {
		.thread = thread,
		.from = from - first,
		.to = to - first,
		.window_ns = first << (SHARE_SHIFT + level),
		.shift = SHARE_SHIFT + level,
	};

	if (window)
		tell_window(index, window, &stretch, on_part, data);
}

void share_index_each(struct share_index *index, unsigned int level, uint64_t from, uint64_t to, uint32_t thread,
		      share_part_fn *on_part, void *data)
{
	uint64_t first = from >> SHARE_WINDOW_SHIFT << SHARE_WINDOW_SHIFT;
	uint64_t middle = 2 * first + (1 << SHARE_WINDOW_SHIFT); /* where the second window of the level below begins */

	if (find_window(index, level, from)) {
		tell_cells(index, level, from, to, thread, on_part, data);
	} else if (level) {
		tell_cells(index, level - 1, 2 * from, 2 * to < middle ? 2 * to : middle, thread, on_part, data);
		tell_cells(index, level - 1, 2 * from > middle ? 2 * from : middle, 2 * to, thread, on_part, data);
	}
}
