/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Criticality (CMetric) of threads and call paths: doc/design.md, section 3, after GAPP (Nair and
 * Field, ICPE 2020, sections 2 and 4). Exact: computed in integers from the ordered stream.
 * The stack of a critical slice travels in the sched.SWITCH that ends it (fields stack and keep,
 * meant when flags has SWITCH_HAS_STACK): there is no event of its own for it.
 * Owns all it hands out; pointers stay valid until the next event or criticality_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/threads.h"
#include "waits/wait_cause.h"

struct criticality;
struct run_samples;
struct stacks;
struct state_listener;
struct thread_strip;
struct untold;

struct criticality_options {
	uint32_t nmin;               /* 0: half of the living threads, at least 1 */
	size_t threads_max;          /* rows; beyond, the dead are folded by name; 0: default */
	size_t paths_max;            /* rows; paths beyond it share one row; 0: default */
	bool has_no_paths;           /* threads alone are asked for: samples and stacks go to nobody */
	struct waits *waits;         /* hears of waits; NULL: nobody does */
	struct untold *untold;       /* knows why records are missing; NULL: nobody does */
	const struct stacks *stacks; /* gives stack tops their address; NULL: they have none */
	bool keeps_strips;           /* what each thread did over the time, at 1.4 KB a thread */
	struct run_samples *samples; /* hears of all samples; NULL: nobody does */
	/* Whether a thread spins that was seen at an address: it is not active then. NULL: it is. */
	bool (*is_spinning)(void *data, const struct thread *thread, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip);
	void *spin_data;
	const struct state_listener *listener; /* hears what each thread does; NULL: nobody does */
	bool is_of_all;                        /* threads that are not traced but told of count like the others */
};

/*
 * Time is fixed point: nanoseconds with 32 fraction bits, so that dt / n adds up to the
 * wall clock with nothing dropped.
 */
typedef unsigned __int128 fixed_ns;

static inline uint64_t fixed_to_ns(fixed_ns value)
{
	return (uint64_t)((value + (1u << 31)) >> 32);
}

/* One thread, or all the dead ones of one name that had to be folded (thread == NULL). */
struct thread_metrics {
	const struct thread *thread;
	char name[16];
	uint64_t thread_count;     /* 1, or how many are folded here */
	fixed_ns cmetric_oncpu;    /* what GAPP ranks */
	fixed_ns cmetric_runqueue; /* the wait for a CPU, which GAPP loses */
	uint64_t running_ns, runnable_ns, blocked_ns;
	/* Not counted as active: of running, and of runnable: it spun when it lost its CPU. */
	uint64_t spinning_ns, spin_preempted_ns;
	uint64_t slices, critical_slices;
	uint64_t stalls_ended_ns;   /* stalled time that this thread ended: it woke up */
	uint64_t path;              /* a stack that the thread was seen with, 0: none */
	struct thread_strip *strip; /* counted from begin_ns of the totals; NULL: none is kept */
	bool is_alive;
};

/* Where samples of a path's slices fell. */
struct sample_count {
	uint64_t ip;        /* in the program */
	uint64_t kernel_ip; /* 0: it was in the program */
	uint64_t count;
	bool is_stack_top; /* no sample: the top of the stack stands in */
};

/* One call path of one address space: slices that were critical and ended here. */
struct path_metrics {
	uint64_t stack;           /* 0: the stack could not be read or was not kept */
	uint32_t pid, exec_count; /* with first_ns: the address space; pid 0: folded paths */
	uint64_t first_ns;        /* when it was first met */
	double cmetric_ns;        /* estimated when stacks were sampled, else exact */
	uint64_t slices;          /* seen with their stack */
	double slices_estimated;  /* all of them, as far as sampling tells */
	uint64_t stalled_ns;      /* stalls ended by threads that blocked here */
	const struct sample_count *samples;
	size_t sample_kind_count;
	const struct thread *const *threads; /* up to PATH_THREADS_MAX, by first appearance */
	size_t thread_count;                 /* of all threads that came here, may exceed that */
	/* Why most of the time's slices ended; SLICE_CAUSES: not known. */
	enum wait_cause cause;
	struct wait_facts facts; /* of one of those */
};

enum { PATH_THREADS_MAX = 8, PARALLELISM_MAX = 65536 };

/* A change of state that did not fit what came before. */
struct criticality_oddity {
	uint64_t time_ns;
	uint32_t tid;
	char name[16];
	const char *what; /* the thread did; NULL: there was none */
};

struct criticality_totals {
	uint64_t begin_ns, end_ns;          /* CLOCK_MONOTONIC: first traced thread to the last */
	uint64_t wall_ns;                   /* time with at least one thread alive */
	uint64_t active_ns, stalled_ns;     /* n >= 1; n == 0 while threads live */
	uint64_t spun_ns;                   /* stalled while threads spun that are not counted as active */
	uint64_t cmetric_ns;                /* sum over threads */
	int64_t closure_error_ns;           /* wall - stalled - cmetric; the law says 0 */
	uint64_t critical_ns;               /* time with 1 <= n <= N_min */
	uint64_t oncpu_cmetric_critical_ns; /* on-CPU CMetric of critical slices */
	uint64_t stalls;
	uint64_t thread_count, alive_count, alive_count_max, active_count_max;
	uint64_t switches, slices, critical_slices;
	uint64_t samples, samples_dropped; /* all that came; of them, not given to a path */
	uint64_t stack_tops;
	/* Critical slices with a stack; that the governor left without; that were cut short. */
	uint64_t stacks_kept, stacks_skipped, stacks_missing;
	uint64_t unordered;            /* transitions that did not fit the state, without a reason; mended */
	struct criticality_oddity odd; /* the last of these, or one that a reason was found for since */
	uint64_t gaps, lost_records, gap_ns;
	double keep_min; /* smallest probability of keeping a stack; 1: all */
	uint32_t nmin;   /* as it stood at the end */
};

struct criticality *criticality_new(struct session *session, struct threads *threads,
				    const struct criticality_options *options);
void criticality_free(struct criticality *criticality);

/*
 * No event before now_ns will come any more: the time up to there is charged. For who reads the
 * account while it goes on; changes no result.
 */
void criticality_advance(struct criticality *criticality, uint64_t now_ns);

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

/* Number of active threads at the moment. */
uint32_t criticality_active_count(const struct criticality *criticality);

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
