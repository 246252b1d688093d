/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the account of criticality.h keeps: criticality.c writes it, criticality_account.c reads it. */
#pragma once

#include "account/criticality.h"
#include "account/measures/parallelism.h"
#include "account/slices.h"
#include "account/thread_rows.h"
#include "chains/run_moments.h"
#include "values.h"

struct criticality {
	struct criticality_options options;
	struct threads *threads;
	struct parallelism parallelism;
	struct thread_rows *rows;
	struct call_paths *paths;
	struct blocked_on *blocked_on;    /* NULL: nobody samples where threads run */
	struct past *cpu_pasts[CPUS_MAX]; /* samples by CPU; NULL: none yet */
	struct run_moments *moments;      /* NULL, as blocked_on */
	struct criticality_totals totals; /* only the counters */
	struct slices slices;

	struct thread_row *running[CPUS_MAX]; /* by CPU; NULL: an untraced thread, or not known */
	size_t cpu_count;                     /* CPUs from here on never had a traced thread */

	bool is_stalled;
	uint64_t stall_begin_ns;

	bool is_in_gap, is_in_sync, is_sync_damaged;
	uint64_t gap_begin_wall_ns;
	uint32_t sync;        /* number of the latest, from 1 */
	uint32_t command_pid; /* the one process that is traced, or was at the beginning; 0: several, or not known */
};

/* criticality_demand.c: what a thread creates another one for, the row, is what that has to do. */
void criticality_inherit_request(struct criticality *self, struct thread_row *row);

/* criticality_demand.c: which process is traced. */
void criticality_note_run(struct criticality *self, const struct ev_collect_run *e);

/* criticality_demand.c: the row was found: not in a list of those that live, if it is the command that was started. */
void criticality_note_command(const struct criticality *self, struct thread_row *row);

/* criticality_code.c: the row has been sampled. False: there was no space for it. */
bool criticality_add_code(struct criticality *self, struct thread_row *row, const struct ev_sched_sample *e);

/* criticality_code.c: the row's slice has ended, with e; NULL: its switch was lost, or is yet to come. */
void criticality_end_code(const struct criticality *self, struct thread_row *row, const struct ev_sched_switch *e);

/* criticality_loops.c: the row, which has just blocked, waits as e says. */
void criticality_begin_wait(struct criticality *self, struct thread_row *row, const struct ev_sched_switch *e);

/* criticality_loops.c: its wait, if it was in one, ended at end_ns, by e; or by what was lost. */
void criticality_end_wait(struct criticality *self, struct thread_row *row, uint64_t end_ns,
			  const struct ev_sched_wake *e);
void criticality_lose_wait(struct criticality *self, struct thread_row *row);

/* criticality_loops.c: the row has a CPU, though nothing has ended its wait; or its thread ends. */
void criticality_run_loop(const struct criticality *self, struct thread_row *row);
void criticality_end_loop(const struct criticality *self, struct thread_row *row);

/* criticality_loops.c: e met the row, which is an event loop's. */
void criticality_note_turn(struct thread_row *row, const struct ev_sched_sample *e);

/* criticality_past.c: what threads do is kept from now on; after this self->blocked_on is set. */
void criticality_begin_pasts(struct criticality *self);
void criticality_free_pasts(struct criticality *self);

/* criticality_past.c: the row does something else by now. */
void criticality_note_past(const struct criticality *self, struct thread_row *row);

/* criticality_past.c: e met the row in this code. */
void criticality_note_past_sample(struct criticality *self, struct thread_row *row, const struct ev_sched_sample *e,
				  const struct code_sample *code);

/* criticality_past.c: the row, which could run, gets this CPU. */
void criticality_end_cpu_wait(struct criticality *self, const struct thread_row *row, uint16_t cpu);

/* criticality_moments.c: e met the row in this code. */
void criticality_note_moment(struct criticality *self, const struct thread_row *row, const struct ev_sched_sample *e,
			     const struct code_sample *code);

/* criticality_moments.c: the row's wait, which moments may have met, has ended so; waker: by whom, if by that. */
void criticality_end_met_wait(struct thread_row *row, uint64_t end_ns, const struct wait_added *added, uint32_t waker);
