/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells waits.c of the waits of threads: who waits, who wakes, and what both had done by then. */
#pragma once

#include "account/measures/parallelism.h"
#include "account/thread_rows.h"

struct blocked_on;

/* The row has become active or ceases to be, or begins or ceases to spin. */
void thread_wait_note_history(struct thread_row *row, const struct parallelism *p);

/* waits: NULL, nobody hears of them. */
void thread_wait_begin(struct waits *waits, struct thread_row *row, const struct parallelism *p,
		       const struct ev_sched_switch *e);

/*
 * The wait of the row, which is in one, ended at end_ns by e. waker: whose that was; NULL: not
 * traced. blocked: hears what the waker had done meanwhile; NULL: nobody does.
 */
struct wait_added thread_wait_end(struct waits *waits, struct blocked_on *blocked, struct thread_row *row,
				  struct thread_row *waker, const struct parallelism *p, uint64_t end_ns,
				  const struct ev_sched_wake *e);

/* It ended by what was lost, or (is_over) not before the trace did. */
void thread_wait_lose_end(struct waits *waits, struct thread_row *row, const struct parallelism *p, bool is_over);

/* See waits_thread_ends(). */
void thread_wait_thread_ends(struct waits *waits, struct thread_row *row, const struct parallelism *p);

/* See waits_count_open(). */
void thread_wait_count_open(struct waits *waits, struct thread_row *row, const struct parallelism *p);
