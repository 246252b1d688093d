/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Criticality (CMetric) of threads and call paths: doc/design.md, section 3, after GAPP (Nair and
 * Field, ICPE 2020, sections 2 and 4). Exact: computed in integers from the ordered stream.
 * The stack of a critical slice travels in the sched.SWITCH that ends it (fields stack and keep,
 * meant when flags has SWITCH_HAS_STACK): there is no event of its own for it.
 * Owns all it hands out; pointers stay valid until the next event or criticality_free().
 *
 * Owns: CMetric, slices and stalls: what each thread did, and what that counts.
 * Used by: spin, findings/names, findings/parts, findings/blame, findings/code, findings/patterns, engine, query, live.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/metrics.h"
#include "session/session.h"
#include "session/threads.h"

struct blocked_on;
struct criticality;
struct code_samples;
struct event_loop;
struct run_moments;
struct run_samples;
struct stacks;
struct state_listener;
struct missing_wakeups;

struct criticality_options {
	uint32_t nmin;                   /* 0: half of the living threads, at least 1 */
	size_t threads_max;              /* rows; beyond, the dead are folded by name; 0: default */
	size_t paths_max;                /* rows; paths beyond it share one row; 0: default */
	bool has_no_paths;               /* threads alone are asked for: samples and stacks go to nobody */
	struct waits *waits;             /* hears of waits; NULL: nobody does */
	struct missing_wakeups *missing; /* knows why records are missing; NULL: nobody does */
	const struct stacks *stacks;     /* gives stack tops their address; NULL: they have none */
	bool keeps_strips;               /* what each thread did over the time, at 1.4 KB a thread */
	struct run_samples *samples;     /* hears of all samples; NULL: nobody does */
	struct code_samples *code;       /* the same, with their call paths */
	/* Whether a thread spins that was seen at an address: it is not active then. NULL: it is. */
	bool (*is_spinning)(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			    const struct ev_sched_sample *before);
	void *spin_data;
	const struct state_listener *listener; /* hears what each thread does; NULL: nobody does */
	bool is_of_all;                        /* external threads count like the others */
};

struct criticality *criticality_new(struct session *session, struct threads *threads,
				    const struct criticality_options *options);
void criticality_free(struct criticality *criticality);

/*
 * No event before now_ns will come any more: the time up to there is charged. For who reads the
 * account while it goes on; changes no result.
 */
void criticality_advance(struct criticality *criticality, uint64_t now_ns);

/* Up to when that is: at least the time of the last event that says what a thread does. */
uint64_t criticality_now_ns(const struct criticality *criticality);

/*
 * Has the waits that last counted as if they ended at this moment, until all of that is taken back,
 * which has to be before the next event.
 */
void criticality_count_open_waits(struct criticality *criticality);
void criticality_uncount_open_waits(struct criticality *criticality);

/* Ends the account at now_ns: what runs, waits or sleeps is charged up to there. */
void criticality_finish(struct criticality *criticality, uint64_t now_ns);

/* Goes through all threads: for reports. */
struct criticality_totals criticality_totals(const struct criticality *criticality);

/* How many there are at the moment, and were; costs nothing, however many they are. */
struct criticality_counts {
	uint64_t threads; /* since the beginning */
	uint64_t alive, active;
	uint64_t lost_records;
};

struct criticality_counts criticality_counts(const struct criticality *criticality);

/* What threads were blocked on; NULL: samples were not asked for. */
const struct blocked_on *criticality_blocked_on(const struct criticality *criticality);

/* What others did when samples met threads; NULL: samples were not asked for. */
const struct run_moments *criticality_moments(const struct criticality *criticality);

/*
 * Threads that are event loops, each as if its iteration ended at this moment: for the caller to free. Walk with
 * *cursor = 0; NULL ends. None if nobody hears of waits.
 */
struct event_loop *criticality_next_loop(const struct criticality *criticality, size_t *cursor,
					 const struct thread **thread);

/* Of the loops of a process, for how long the one that has been in its iteration for longest has been; 0: none is in one. */
uint64_t criticality_iteration_ns(const struct criticality *criticality, uint32_t pid, uint64_t now_ns);

/* Threads that poll, but are in none of these: there were too many. */
uint64_t criticality_loops_left_out(const struct criticality *criticality);

/* Walk with *cursor = 0; NULL ends. */
const struct thread_metrics *criticality_next_thread(const struct criticality *criticality, size_t *cursor);
const struct path_metrics *criticality_next_path(const struct criticality *criticality, size_t *cursor);

/* Time spent with exactly `active` threads active, ns; active below PARALLELISM_MAX. */
uint64_t criticality_time_at(const struct criticality *criticality, uint32_t active);

/*
 * Parallelism over time: at most `count` equal buckets that cover begin to end; average[i]
 * is the mean number of active threads in bucket i. Returns how many were filled.
 */
size_t criticality_timeline(const struct criticality *criticality, double *average, size_t count);
