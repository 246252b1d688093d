/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "trace/trace_writer.h"

enum {
	CHANGES_A_CELL = 64,       /* on average, or the level is not kept */
	CELLS_EARLY = 1024,         /* so many more there may be until a window is given up */
	WINDOW_CELLS_MAX = 1 << 20, /* of all threads */
	BASE_MAX = 4,               /* so that a burst is noticed within seconds */
	OPEN_MAX = 8192,            /* threads with open cells: of more there is no pyramid any more */
};

struct share_cell {
	uint64_t index;      /* its time by its width */
	uint8_t first, last; /* shares that it begins and ends with */
	uint32_t used;       /* a bit for each share that ns has */
	uint64_t ns[SHARES];
};
_Static_assert(SHARES <= 32, "a bit for each share");

struct level {
	struct text bytes; /* cells of the window, as a chunk has them */
	uint64_t cells, changes_before;
	bool is_given_up; /* the window has too few changes for its cells, or too many cells */
};

struct share_log {
	struct trace_writer *writer;
	struct level levels[SHARE_LEVELS];
	unsigned int base; /* the lowest level that has cells at the time */
	uint64_t window;   /* of the lowest level of all */
	bool has_begun;
	bool is_full; /* too many threads have had open cells */
	uint64_t changes;
	struct share_thread **open; /* those that have open cells */
	size_t open_count, open_capacity;
};

static unsigned int shift_of(unsigned int level)
{
	return SHARE_SHIFT + level;
}

/* --- Cells ---------------------------------------------------------------------------------- */

static void add_to_cell(struct share_cell *cell, unsigned int share, uint64_t ns)
{
	if (!(cell->used & 1u << share))
		cell->ns[share] = 0;
	cell->used |= 1u << share;
	cell->ns[share] += ns;
}

/* Counts one more; false: the window is given up, as most are, and what would be thrown away is not written. */
static bool count_cell(const struct share_log *log, struct level *level)
{
	uint64_t cells_max = CELLS_EARLY + (log->changes - level->changes_before) / CHANGES_A_CELL;

	if (++level->cells > cells_max || level->cells > WINDOW_CELLS_MAX)
		level->is_given_up = true;
	return !level->is_given_up;
}

/* The thread, the cell's place in the window, first and last, how many shares, and each with its ns. */
static void put_cell(struct share_log *log, unsigned int number, uint32_t thread, const struct share_cell *cell)
{
	struct level *level = &log->levels[number];

	if (!count_cell(log, level))
		return;
	text_put_varint(&level->bytes, thread);
	text_put_varint(&level->bytes, cell->index & ((1 << SHARE_WINDOW_SHIFT) - 1));
	text_put_varint(&level->bytes, cell->first);
	text_put_varint(&level->bytes, cell->last);
	text_put_varint(&level->bytes, __builtin_popcount(cell->used));
	for (uint32_t left = cell->used; left; left &= left - 1) {
		text_put_varint(&level->bytes, __builtin_ctz(left));
		text_put_varint(&level->bytes, cell->ns[__builtin_ctz(left)]);
	}
}

static struct share_cell *open_cell(struct share_log *log, struct share_thread *thread, unsigned int level,
				    uint64_t index, uint8_t first)
{
	struct share_cell *cell;

	if (!thread->cells)
		thread->cells = xcalloc(SHARE_LEVELS, sizeof(*thread->cells));
	cell = &thread->cells[level];
	if (thread->open & 1u << level)
		return cell;
	if (!thread->open) {
		ARRAY_GROW(log->open, log->open_count, log->open_capacity, 64);
		thread->place = log->open_count;
		log->open[log->open_count++] = thread;
	}
	thread->open |= 1u << level;
	cell->index = index;
	cell->first = first;
	cell->used = 0;
	return cell;
}

static void close_cell(struct share_log *log, struct share_thread *thread, unsigned int level)
{
	put_cell(log, level, thread->number, &thread->cells[level]);
	thread->open &= ~(1u << level);
	if (thread->open)
		return;
	free(thread->cells);
	thread->cells = NULL;
	log->open[thread->place] = log->open[--log->open_count];
	log->open[thread->place]->place = thread->place;
}

/* What is in a cell is in the one above it, too. */
static void lift_cell(struct share_log *log, struct share_thread *thread, unsigned int level)
{
	const struct share_cell *from = &thread->cells[level];
	struct share_cell *to;

	if (level + 1 == SHARE_LEVELS)
		return;
	to = open_cell(log, thread, level + 1, from->index >> 1, from->first);
	to->last = from->last;
	for (uint32_t left = from->used; left; left &= left - 1)
		add_to_cell(to, __builtin_ctz(left), from->ns[__builtin_ctz(left)]);
}

/* The cells of the level that end with the end of this one are complete, as it is. */
static void end_cells(struct share_log *log, struct share_thread *thread, unsigned int level)
{
	for (;; level++) {
		uint64_t index = thread->cells[level].index;

		lift_cell(log, thread, level);
		close_cell(log, thread, level);
		if (level + 1 == SHARE_LEVELS || !(index & 1))
			return;
	}
}

/* The thread did the same from begin_ns to end_ns, both of which a level below may have rounded. */
static void add_time(struct share_log *log, struct share_thread *thread, unsigned int level, uint64_t begin_ns,
		     uint64_t end_ns)
{
	unsigned int shift = shift_of(level);

	while (begin_ns < end_ns) {
		/* What is left of the cell: where it ends may be no number of 64 bits. */
		uint64_t width_ns = 1ull << shift, left_ns = width_ns - (begin_ns & (width_ns - 1));
		uint64_t ns = end_ns - begin_ns < left_ns ? end_ns - begin_ns : left_ns;
		struct share_cell *cell;

		/* Whole cells without a change: only those above need to know, and nobody those of the last level. */
		if (ns == width_ns && !(thread->open & 1u << level)) {
			uint64_t until_ns = end_ns >> shift << shift;

			if (level + 1 < SHARE_LEVELS)
				add_time(log, thread, level + 1, begin_ns, until_ns);
			begin_ns = until_ns;
			continue;
		}
		cell = open_cell(log, thread, level, begin_ns >> shift, thread->share);
		add_to_cell(cell, thread->share, ns);
		cell->last = thread->share;
		if (ns == left_ns)
			end_cells(log, thread, level);
		begin_ns += ns;
	}
}

static void bring_up_to(struct share_log *log, struct share_thread *thread, uint64_t now_ns)
{
	struct share_cell *cell = thread->open & 1u << log->base ? &thread->cells[log->base] : NULL;

	/* Most changes are within a cell that has some already. */
	if (cell && now_ns > thread->until_ns && now_ns >> shift_of(log->base) == cell->index) {
		add_to_cell(cell, thread->share, now_ns - thread->until_ns);
		cell->last = thread->share;
	} else {
		add_time(log, thread, log->base, thread->until_ns, now_ns);
	}
	thread->until_ns = now_ns;
}

/* --- Windows -------------------------------------------------------------------------------- */

/* A window of a level ends: its cells are complete. Returns whether they are kept. */
static bool end_window(struct share_log *log, unsigned int number, uint64_t window)
{
	struct level *level = &log->levels[number];
	uint64_t changes = log->changes - level->changes_before;
	unsigned int shift = shift_of(number) + SHARE_WINDOW_SHIFT;
	struct trace_span span = { window << shift, ((window + 1) << shift) - 1, number };
	bool is_kept = level->cells && !level->is_given_up && changes / level->cells >= CHANGES_A_CELL;

	if (is_kept)
		trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_SHARES, level->bytes.bytes, level->bytes.length,
				   &span);
	level->bytes.length = 0;
	level->cells = 0;
	level->is_given_up = false;
	level->changes_before = log->changes;
	return is_kept;
}

/*
 * Windows of so many levels end, from the lowest one on. What is below the lowest level that is kept costs time
 * for nothing. The lowest one may change where its own cells end for all threads.
 */
static void end_windows(struct share_log *log, unsigned int levels)
{
	bool is_base_kept = false;

	for (unsigned int level = 0; level < levels; level++) {
		bool is_kept = end_window(log, level, log->window >> level);

		if (level == log->base)
			is_base_kept = is_kept;
	}
	if (log->base >= levels)
		return;
	if (is_base_kept && log->base)
		log->base--;
	else if (!is_base_kept && log->base < BASE_MAX)
		log->base++;
}

/* Of the lowest level with an open cell; SHARE_LEVELS: there is none. */
static unsigned int lowest_open(const struct share_log *log)
{
	uint32_t open = 1u << SHARE_LEVELS;

	for (size_t i = 0; i < log->open_count; i++)
		open |= log->open[i]->open;
	return __builtin_ctz(open);
}

static void bring_all_up_to(struct share_log *log, uint64_t end_ns, unsigned int levels)
{
	/* Who leaves the list gives its place to one that has been examined. */
	for (size_t i = log->open_count; i-- > 0;)
		if (log->open[i]->open & ((1u << levels) - 1))
			bring_up_to(log, log->open[i], end_ns);
}

/* From the end of one window with open cells to that of the next: what lies between may be long. */
static void pass_windows(struct share_log *log, uint64_t now_ns)
{
	uint64_t window = now_ns >> (SHARE_SHIFT + SHARE_WINDOW_SHIFT), next;

	if (!log->has_begun)
		log->window = window;
	log->has_begun = true;
	for (; log->window < window; log->window = next) {
		unsigned int level = lowest_open(log), ending;

		next = ((log->window >> level) + 1) << level;
		if (next <= window) {
			ending = __builtin_ctzll(next) + 1;
			bring_all_up_to(log, next << (SHARE_SHIFT + SHARE_WINDOW_SHIFT),
					ending < SHARE_LEVELS ? ending : SHARE_LEVELS);
		} else {
			next = window;
		}
		for (level = 0; level < SHARE_LEVELS && log->window >> level != next >> level; level++)
			;
		end_windows(log, level);
	}
}

/* --- What others call ----------------------------------------------------------------------- */

struct share_log *share_log_new(struct trace_writer *writer)
{
	struct share_log *log = xcalloc(1, sizeof(*log));

	log->writer = writer;
	return log;
}

/* Cells that are missing must not be taken for cells without a change: all windows are given up. */
static void give_up(struct share_log *log)
{
	log->is_full = true;
	for (size_t i = 0; i < log->open_count; i++) {
		free(log->open[i]->cells);
		log->open[i]->cells = NULL;
		log->open[i]->open = 0;
	}
	log->open_count = 0;
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		log->levels[level].is_given_up = true;
}

/* A thread that begins within a cell has it open from then on: else nobody would bring it up to the end of the window. */
static void begin_thread(struct share_log *log, struct share_thread *thread, uint64_t now_ns, uint8_t share)
{
	unsigned int shift = shift_of(log->base);

	thread->has_begun = true;
	if (now_ns & ((1ull << shift) - 1))
		open_cell(log, thread, log->base, now_ns >> shift, share)->last = share;
}

void share_log_change(struct share_log *log, struct share_thread *thread, uint64_t now_ns, uint8_t share)
{
	if (log->open_count >= OPEN_MAX && !log->is_full)
		give_up(log);
	if (log->is_full)
		return;
	pass_windows(log, now_ns);
	log->changes++;
	if (thread->has_begun)
		bring_up_to(log, thread, now_ns);
	else
		begin_thread(log, thread, now_ns, share);
	thread->until_ns = now_ns;
	thread->share = share;
}

void share_log_end(struct share_log *log, struct share_thread *thread, uint64_t now_ns)
{
	if (!thread->has_begun)
		return;
	share_log_change(log, thread, now_ns, SHARE_UNKNOWN);
	for (unsigned int level = 0; thread->open && level < SHARE_LEVELS; level++) {
		if (!(thread->open & 1u << level))
			continue;
		lift_cell(log, thread, level);
		close_cell(log, thread, level);
	}
	thread->has_begun = false;
}

void share_log_finish(struct share_log *log)
{
	end_windows(log, SHARE_LEVELS);
}

void share_log_free(struct share_log *log)
{
	if (!log)
		return;
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		text_fini(&log->levels[level].bytes);
	free(log->open);
	free(log);
}
