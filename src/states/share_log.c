/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/share_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "trace/trace_writer.h"

enum {
	CHANGES_A_CELL = 16,        /* on average, or the window is not kept */
	LIVING_A_CELL = 4,          /* so many threads without a change take as much space as a cell */
	CELLS_EARLY = 1024,         /* so many more there may be until a window is given up */
	WINDOW_CELLS_MAX = 1 << 20, /* of all threads */
	BASE_MAX = 4,               /* so that a burst is noticed within seconds */
	LIVING_MAX = 1 << 14,       /* threads: of more there is no pyramid any more */
};

struct level {
	struct share_cells cells; /* of the window */
	uint64_t count, changes_before;
	bool is_given_up; /* the window has too few changes for its cells, or too many cells */
	uint64_t put[2];  /* the last windows that were put, plus 1 */
};

struct share_log {
	struct trace_writer *writer;
	enum trace_chunk_kind kind;
	struct level levels[SHARE_LEVELS];
	unsigned int base; /* the lowest level that has cells at the time */
	uint64_t window;   /* of the lowest level of all */
	bool has_begun;
	bool is_full; /* too many threads have lived at once */
	uint64_t changes;
	struct share_thread **living;
	size_t living_count, living_capacity;
	struct text bytes; /* of a chunk */
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

	if (++level->count > cells_max || level->count > WINDOW_CELLS_MAX)
		level->is_given_up = true;
	return !level->is_given_up;
}

static struct share_cell *open_cell(struct share_thread *thread, unsigned int level, uint64_t index, uint8_t first)
{
	struct share_cell *cell = &thread->cells[level];

	if (thread->open & 1u << level)
		return cell;
	thread->open |= 1u << level;
	cell->index = index;
	cell->first = cell->last = first;
	cell->used = 0;
	return cell;
}

static void close_cell(struct share_log *log, struct share_thread *thread, unsigned int number)
{
	struct level *level = &log->levels[number];

	thread->open &= ~(1u << number);
	if (count_cell(log, level))
		share_cells_add(&level->cells, thread->number, &thread->cells[number], 1ull << shift_of(number));
}

/* What is in a cell is in the one above it, too. */
static void lift_cell(struct share_thread *thread, unsigned int level)
{
	const struct share_cell *from = &thread->cells[level];
	struct share_cell *to;

	if (level + 1 == SHARE_LEVELS)
		return;
	to = open_cell(thread, level + 1, from->index >> 1, from->first);
	to->last = from->last;
	for (uint32_t left = from->used; left; left &= left - 1)
		add_to_cell(to, __builtin_ctz(left), from->ns[__builtin_ctz(left)]);
}

/* The cells of the level that end with the end of this one are complete, as it is. */
static void end_cells(struct share_log *log, struct share_thread *thread, unsigned int level)
{
	for (;; level++) {
		uint64_t index = thread->cells[level].index;

		lift_cell(thread, level);
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
		cell = open_cell(thread, level, begin_ns >> shift, thread->share);
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

static int compare_living(const void *a, const void *b)
{
	uint32_t x = ((const struct share_living *)a)->thread, y = ((const struct share_living *)b)->thread;

	return (x > y) - (x < y);
}

/* Who has no cell in a window does since its beginning what it does at its end. */
static void put_window(struct share_log *log, unsigned int number, uint64_t window)
{
	unsigned int shift = shift_of(number) + SHARE_WINDOW_SHIFT;
	struct trace_span span = { window << shift, ((window + 1) << shift) - 1, number };
	struct share_living *living = xcalloc(log->living_count + 1, sizeof(*living));

	for (size_t i = 0; i < log->living_count; i++)
		living[i] = (struct share_living){ log->living[i]->number, log->living[i]->share };
	qsort(living, log->living_count, sizeof(*living), compare_living);
	log->bytes.length = 0;
	share_cells_put(&log->levels[number].cells, living, log->living_count, &log->bytes);
	trace_writer_chunk(log->writer, log->kind, log->bytes.bytes, log->bytes.length, &span);
	free(living);
	log->levels[number].put[0] = log->levels[number].put[1];
	log->levels[number].put[1] = window + 1;
}

/* Whether those two windows of the level below are in the file that make up one of this level. */
static bool follows_from_below(const struct share_log *log, unsigned int number, uint64_t window)
{
	const struct level *below = number ? &log->levels[number - 1] : NULL;

	return below && below->put[0] == 2 * window + 1 && below->put[1] == 2 * window + 2;
}

/* A window of a level ends: its cells are complete. Returns whether they are kept. */
static bool end_window(struct share_log *log, unsigned int number, uint64_t window)
{
	struct level *level = &log->levels[number];
	uint64_t changes = log->changes - level->changes_before;
	uint64_t cells = level->count + log->living_count / LIVING_A_CELL;
	bool is_kept = level->count && !level->is_given_up && changes / cells >= CHANGES_A_CELL;

	if (is_kept && !follows_from_below(log, number, window))
		put_window(log, number, window);
	share_cells_clear(&level->cells);
	level->count = 0;
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

	for (size_t i = 0; i < log->living_count; i++)
		open |= log->living[i]->open;
	return __builtin_ctz(open);
}

static void bring_all_up_to(struct share_log *log, uint64_t end_ns, unsigned int levels)
{
	for (size_t i = 0; i < log->living_count; i++)
		if (log->living[i]->open & ((1u << levels) - 1))
			bring_up_to(log, log->living[i], end_ns);
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

struct share_log *share_log_new(struct trace_writer *writer, enum trace_chunk_kind kind)
{
	struct share_log *log = xcalloc(1, sizeof(*log));

	log->writer = writer;
	log->kind = kind;
	return log;
}

/* Cells that are missing must not be taken for cells without a change: all windows are given up. */
static void give_up(struct share_log *log)
{
	log->is_full = true;
	for (size_t i = 0; i < log->living_count; i++) {
		free(log->living[i]->cells);
		log->living[i]->cells = NULL;
		log->living[i]->open = 0;
	}
	log->living_count = 0;
	for (unsigned int level = 0; level < SHARE_LEVELS; level++)
		log->levels[level].is_given_up = true;
}

static void begin_thread(struct share_log *log, struct share_thread *thread)
{
	thread->has_begun = true;
	thread->cells = xcalloc(SHARE_LEVELS, sizeof(*thread->cells));
	thread->place = log->living_count;
	ARRAY_GROW(log->living, log->living_count, log->living_capacity, 64);
	log->living[log->living_count++] = thread;
}

/* The cell that a change begins knows of it, also if nothing changes within it. */
void share_log_change(struct share_log *log, struct share_thread *thread, uint64_t now_ns, uint8_t share)
{
	uint8_t before = thread->has_begun ? thread->share : SHARE_ABSENT;

	if (log->living_count >= LIVING_MAX && !log->is_full)
		give_up(log);
	if (log->is_full)
		return;
	pass_windows(log, now_ns);
	log->changes++;
	if (thread->has_begun)
		bring_up_to(log, thread, now_ns);
	else
		begin_thread(log, thread);
	thread->until_ns = now_ns;
	thread->share = share;
	if (!(thread->open & 1u << log->base))
		open_cell(thread, log->base, now_ns >> shift_of(log->base), before)->last = share;
}

void share_log_correct(struct share_thread *thread, uint8_t share)
{
	thread->share = share;
}

static void forget_thread(struct share_log *log, struct share_thread *thread)
{
	free(thread->cells);
	thread->cells = NULL;
	log->living[thread->place] = log->living[--log->living_count];
	log->living[thread->place]->place = thread->place;
}

void share_log_end(struct share_log *log, struct share_thread *thread, uint64_t now_ns)
{
	if (!thread->has_begun)
		return;
	share_log_change(log, thread, now_ns, SHARE_UNKNOWN);
	thread->has_begun = false;
	if (!thread->cells)
		return;
	thread->cells[log->base].last = SHARE_ABSENT;
	for (unsigned int level = log->base; level < SHARE_LEVELS; level++) {
		lift_cell(thread, level);
		close_cell(log, thread, level);
	}
	forget_thread(log, thread);
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
		share_cells_fini(&log->levels[level].cells);
	text_fini(&log->bytes);
	free(log->living);
	free(log);
}
