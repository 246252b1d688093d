/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of the criticality analysis: what each is doing and what it adds up to. Owns
 * the rows. A row stays valid until the thread is dead and another row is made.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/metrics.h"
#include "account/measures/parallelism.h"
#include "account/sample_set.h"
#include "chains/past.h"
#include "values.h"
#include "waits/sums/waits.h"

enum { CPU_UNKNOWN = UINT16_MAX + 1, ROW_CODE_MAX = 8 };

struct code_sample;
struct event_loop;
struct moment_wait;

static inline bool phase_is_active(uint8_t phase)
{
	return phase == PHASE_RUNNABLE || phase == PHASE_RUNNING;
}

static inline bool phase_is_alive(uint8_t phase)
{
	return phase == PHASE_BLOCKED || phase_is_active(phase);
}

struct thread_row {
	struct thread_metrics metrics;
	struct thread *thread;
	uint32_t number;
	uint8_t phase;    /* enum thread_phase */
	bool is_spinning; /* active, but not counted as such */
	bool was_alive;   /* at some time: not only a name in a damaged record */

	uint64_t part_begin_ns; /* since when it has this phase, or was charged for it */
	fixed_ns part_begin_share, part_begin_critical;

	uint32_t cpu; /* the slice, while RUNNING */
	uint64_t slice_begin_ns;
	fixed_ns slice_begin_share;
	thread_ns slice_begin_integral;
	struct sample_set *samples;             /* NULL: none yet */
	struct ev_sched_sample sampled;         /* the last sample; zeros: none yet */
	struct code_sample *code[ROW_CODE_MAX]; /* the last samples of the slice */
	uint32_t code_count;                    /* of all in the slice */
	/* Since when the slice has not counted, while it spins. */
	uint64_t pause_begin_ns;
	fixed_ns pause_begin_share;
	thread_ns pause_begin_integral;

	struct open_wait wait;
	struct event_loop *loop; /* NULL: it has not polled yet, or */
	bool is_loop_left_out;   /* there was no space */
	struct history history;
	struct past past;
	struct moment_wait *met_wait; /* the open one, if moments have met it; else NULL */
	uint64_t slice_cmetric_ns;    /* of the last slice when it was critical, else 0 */

	uint64_t block_stack; /* where it blocked last */
	bool has_block_stack;

	/* A wake-up and the transition that it must come after or before may swap. */
	bool is_wake_early, is_wake_late;
	uint64_t block_ns; /* when it blocked last */
	bool is_end_seen;  /* its last switch, not a list that lacks it */
	uint64_t found_ns; /* when a list gave its phase; 0: an event has since */
	uint64_t wake_ns;

	uint32_t sync; /* the last resync by, or after, which it was seen */

	size_t index;   /* in the array of rows */
	bool is_queued; /* to be folded */
	struct thread_row *next_dead;
};

/* Whether it is one of the n active threads. */
static inline bool thread_row_counts(const struct thread_row *row)
{
	return phase_is_active(row->phase) && !row->is_spinning;
}

struct thread_rows;

/* keeps_strips: what each thread did over the time is kept, too. */
struct thread_rows *thread_rows_new(struct threads *threads, size_t rows_max, bool keeps_strips);
void thread_rows_free(struct thread_rows *rows);

/* Makes the row if need be, in the phase UNKNOWN, and folds a dead one if there are too many. */
struct thread_row *thread_rows_get(struct thread_rows *rows, uint32_t number);

/* NULL: there is no such row. */
struct thread_row *thread_rows_find(struct thread_rows *rows, uint32_t number);

/* What the pasts of all rows may take. */
struct chain_budget *thread_rows_past_budget(struct thread_rows *rows);

/* From now_ns on the row does what its phase says. */
void thread_rows_add_past(struct thread_rows *rows, struct thread_row *row, uint64_t now_ns);

/* The row was met running there. */
void thread_rows_add_past_sample(struct thread_rows *rows, struct thread_row *row, const struct past_sample *sample);

/* The row is an event loop's, from now on, if there is space for one more. */
void thread_rows_add_loop(struct thread_rows *rows, struct thread_row *row);

/* Of how many rows there was none. */
uint64_t thread_rows_loops_left_out(const struct thread_rows *rows);

/* Charges the row for what it has been doing up to now. */
void thread_row_settle(struct thread_row *row, const struct parallelism *p);

/* From now on the row may be folded. */
void thread_rows_died(struct thread_rows *rows, struct thread_row *row);

/* Walk with *cursor = 0; NULL ends. Rows may die during a walk. */
/* How many there are, of dead threads, too. */
size_t thread_rows_count(const struct thread_rows *rows);

struct thread_row *thread_rows_next(const struct thread_rows *rows, size_t *cursor);
const struct thread_metrics *thread_rows_next_folded(const struct thread_rows *rows, size_t *cursor);
