/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/thread_rows.h"

#include <stdlib.h>
#include <string.h>

#include "account/event_loop.h"
#include "account/measures/thread_strip.h"
#include "base/memory.h"
#include "base/table.h"
#include "values.h"

enum {
	ROWS_MAX_DEFAULT = 16384,
	FOLDED_MAX = 1024, /* names; threads of further ones share a row */
	RECENT_COUNT = 1024,
	PASTS_BYTES_MAX = 64 << 20,
	PASTS_ROWS_MAX = 1 << 17,
	LOOPS_MAX = 1024, /* at up to 20 KB each */
};

struct thread_rows {
	struct threads *threads;
	struct table *by_number;
	struct thread_row *recent[RECENT_COUNT]; /* by number: spares most look-ups */
	struct thread_row **rows;
	size_t count, capacity, rows_max;
	bool keeps_strips;
	struct thread_row *first_dead, *last_dead; /* in order of death */
	struct thread_metrics *folded[FOLDED_MAX + 1];
	size_t folded_count;
	struct thread_metrics *others;
	struct table *folded_by_name;
	struct chain_budget past_budget;
	size_t loop_count;
	uint64_t loops_left_out;
};

struct thread_rows *thread_rows_new(struct threads *threads, size_t rows_max, bool keeps_strips)
{
	struct thread_rows *rows = xcalloc(1, sizeof(*rows));

	rows->threads = threads;
	rows->by_number = table_new();
	rows->folded_by_name = table_new();
	rows->rows_max = rows_max ? rows_max : ROWS_MAX_DEFAULT;
	rows->keeps_strips = keeps_strips;
	rows->past_budget.bytes_max = PASTS_BYTES_MAX;
	rows->past_budget.rows_max = PASTS_ROWS_MAX;
	return rows;
}

static void row_free(struct thread_rows *rows, struct thread_row *row)
{
	if (row->samples) {
		sample_set_fini(row->samples);
		free(row->samples);
	}
	history_fini(&row->history);
	past_fini(&row->past, &rows->past_budget);
	rows->loop_count -= row->loop != NULL;
	event_loop_free(row->loop);
	free(row->metrics.strip);
	free(row);
}

void thread_rows_free(struct thread_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->count; i++)
		row_free(rows, rows->rows[i]);
	for (size_t i = 0; i < rows->folded_count; i++) {
		free(rows->folded[i]->strip);
		free(rows->folded[i]);
	}
	free(rows->rows);
	table_free(rows->by_number);
	table_free(rows->folded_by_name);
	free(rows);
}

static uint64_t hash_name(const char name[16])
{
	uint64_t halves[2];

	memcpy(halves, name, sizeof(halves));
	return hash_u64(halves[0] ^ hash_u64(halves[1]));
}

static struct thread_metrics *add_folded(struct thread_rows *rows)
{
	struct thread_metrics *folded = xcalloc(1, sizeof(*folded));

	rows->folded[rows->folded_count++] = folded;
	return folded;
}

/* The row in which dead threads of this name are folded. */
static struct thread_metrics *get_folded(struct thread_rows *rows, const char *name)
{
	char padded[16] = "";
	struct thread_metrics *folded;
	uint64_t hash;

	memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
	hash = hash_name(padded);
	folded = table_find(rows->folded_by_name, hash);
	if (folded && !memcmp(folded->name, padded, sizeof(padded)))
		return folded;
	/* A name whose hash another one has is so rare that it may go to the others. */
	if (folded || rows->folded_count >= FOLDED_MAX) {
		if (!rows->others) {
			rows->others = add_folded(rows);
			strcpy(rows->others->name, "others");
		}
		return rows->others;
	}
	folded = add_folded(rows);
	memcpy(folded->name, padded, sizeof(padded));
	table_put(rows->folded_by_name, hash, folded);
	return folded;
}

static void fold_metrics(struct thread_metrics *into, const struct thread_metrics *from)
{
	into->thread_count += from->thread_count;
	into->cmetric_oncpu += from->cmetric_oncpu;
	into->cmetric_critical += from->cmetric_critical;
	into->cmetric_runqueue += from->cmetric_runqueue;
	into->running_ns += from->running_ns;
	into->spinning_ns += from->spinning_ns;
	into->spin_preempted_ns += from->spin_preempted_ns;
	into->runnable_ns += from->runnable_ns;
	into->blocked_ns += from->blocked_ns;
	into->slices += from->slices;
	into->critical_slices += from->critical_slices;
	into->stalls_ended_ns += from->stalls_ended_ns;
	if (from->strip && !into->strip)
		into->strip = xcalloc(1, sizeof(*into->strip));
	if (from->strip)
		thread_strip_merge(into->strip, from->strip);
}

static void row_remove(struct thread_rows *rows, struct thread_row *row)
{
	struct thread_row *last = rows->rows[--rows->count];

	if (row->was_alive)
		fold_metrics(get_folded(rows, row->thread->name), &row->metrics);
	rows->rows[row->index] = last;
	last->index = row->index;
	table_take(rows->by_number, row->number);
	if (rows->recent[row->number % RECENT_COUNT] == row)
		rows->recent[row->number % RECENT_COUNT] = NULL;
	threads_forget(rows->threads, row->thread);
	row_free(rows, row);
}

/* Folds the row that has been dead for longest, if one is. */
static void fold_one(struct thread_rows *rows)
{
	struct thread_row *row;

	while ((row = rows->first_dead)) {
		rows->first_dead = row->next_dead;
		row->next_dead = NULL;
		row->is_queued = false;
		/* One that a lost record only made seem dead has come back. */
		if (row->phase == PHASE_DEAD) {
			row_remove(rows, row);
			return;
		}
	}
}

static struct thread_row *row_add(struct thread_rows *rows, uint32_t number)
{
	struct thread_row *row;

	if (rows->count >= rows->rows_max)
		fold_one(rows);
	row = xcalloc(1, sizeof(*row));
	row->number = number;
	row->thread = threads_get(rows->threads, number);
	row->metrics.thread = row->thread;
	row->metrics.thread_count = 1;
	if (rows->keeps_strips)
		row->metrics.strip = xcalloc(1, sizeof(*row->metrics.strip));
	ARRAY_GROW(rows->rows, rows->count, rows->capacity, 64);
	row->index = rows->count;
	rows->rows[rows->count++] = row;
	table_put(rows->by_number, number, row);
	return row;
}

struct thread_row *thread_rows_get(struct thread_rows *rows, uint32_t number)
{
	struct thread_row **recent = &rows->recent[number % RECENT_COUNT];
	struct thread_row *row = *recent;

	if (row && row->number == number)
		return row;
	row = table_find(rows->by_number, number);
	if (!row)
		row = row_add(rows, number);
	*recent = row;
	return row;
}

struct thread_row *thread_rows_find(struct thread_rows *rows, uint32_t number)
{
	return table_find(rows->by_number, number);
}

struct chain_budget *thread_rows_past_budget(struct thread_rows *rows)
{
	return &rows->past_budget;
}

void thread_rows_add_past(struct thread_rows *rows, struct thread_row *row, uint64_t now_ns)
{
	past_add(&row->past, &rows->past_budget, now_ns, row->phase);
}

void thread_rows_add_past_sample(struct thread_rows *rows, struct thread_row *row, const struct past_sample *sample)
{
	past_add_sample(&row->past, &rows->past_budget, sample);
}

void thread_rows_add_loop(struct thread_rows *rows, struct thread_row *row)
{
	if (rows->loop_count == LOOPS_MAX) {
		rows->loops_left_out += !row->is_loop_left_out;
		row->is_loop_left_out = true;
		return;
	}
	rows->loop_count++;
	row->loop = event_loop_new();
}

uint64_t thread_rows_loops_left_out(const struct thread_rows *rows)
{
	return rows->loops_left_out;
}

void thread_row_settle(struct thread_row *row, const struct parallelism *p)
{
	struct thread_metrics *metrics = &row->metrics;
	uint64_t part_ns = p->now_ns - row->part_begin_ns;
	fixed_ns share = p->share - row->part_begin_share;
	fixed_ns critical = p->share_critical - row->part_begin_critical;

	if (metrics->strip && part_ns && phase_is_alive(row->phase))
		thread_strip_add(metrics->strip, row->phase, row->part_begin_ns - p->begin_ns, p->now_ns - p->begin_ns);
	row->part_begin_ns = p->now_ns;
	row->part_begin_share = p->share;
	row->part_begin_critical = p->share_critical;
	if (row->phase == PHASE_RUNNING) {
		metrics->running_ns += part_ns;
		if (row->is_spinning)
			metrics->spinning_ns += part_ns;
		if (!row->is_spinning) {
			metrics->cmetric_oncpu += share;
			metrics->cmetric_critical += critical;
		}
	} else if (row->phase == PHASE_RUNNABLE) {
		metrics->runnable_ns += part_ns;
		if (row->is_spinning)
			metrics->spin_preempted_ns += part_ns;
		else
			metrics->cmetric_runqueue += share;
	} else if (row->phase == PHASE_BLOCKED) {
		metrics->blocked_ns += part_ns;
	}
}

void thread_rows_died(struct thread_rows *rows, struct thread_row *row)
{
	if (row->is_queued)
		return;
	row->is_queued = true;
	if (rows->first_dead)
		rows->last_dead->next_dead = row;
	else
		rows->first_dead = row;
	rows->last_dead = row;
}

size_t thread_rows_count(const struct thread_rows *rows)
{
	return rows->count;
}

struct thread_row *thread_rows_next(const struct thread_rows *rows, size_t *cursor)
{
	return *cursor < rows->count ? rows->rows[(*cursor)++] : NULL;
}

const struct thread_metrics *thread_rows_next_folded(const struct thread_rows *rows, size_t *cursor)
{
	return *cursor < rows->folded_count ? rows->folded[(*cursor)++] : NULL;
}
