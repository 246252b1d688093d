/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the account adds up to: of a thread, of a call path, of all.
 *
 * Owns: what is measured of threads and call paths, and the integrals over time that it is made of.
 * Used by: account, states, findings/parts, export.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/wait_cause.h"

struct thread;
struct thread_strip;

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
	fixed_ns cmetric_critical; /* the part of it in critical time */
	fixed_ns cmetric_runqueue; /* the wait for a CPU, which GAPP loses */
	uint64_t running_ns, runnable_ns, blocked_ns;
	/* Not counted as active: of running, and of runnable: it spun when it lost its CPU. */
	uint64_t spinning_ns, spin_preempted_ns;
	uint64_t slices, critical_slices;
	uint64_t stalls_ended_ns;   /* stalled time that this thread ended: it woke up */
	uint64_t path;              /* a stack that the thread was seen with, 0: none */
	struct thread_strip *strip; /* counted from begin_ns of the totals; NULL: none is kept */
	uint32_t cpus_allowed;      /* how many CPUs it may use by now; 0: not known, or several threads */
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
	uint64_t first_ns;        /* when it was first seen */
	double cmetric_ns;        /* estimated when stacks were sampled, else exact */
	uint64_t slices;          /* seen with their stack */
	double slices_estimated;  /* all of them, as far as sampling says */
	uint64_t stalled_ns;      /* stalls ended by threads that blocked here */
	const struct sample_count *samples;
	size_t sample_kind_count;
	const struct thread *const *threads; /* up to PATH_THREADS_MAX, by first appearance */
	size_t thread_count;                 /* of all threads that came here, may exceed that */
	/* Why most of the time's slices ended; SLICE_CAUSES: unknown. */
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
	uint64_t unordered;            /* transitions that did not fit the state, without a reason; corrected */
	struct criticality_oddity odd; /* the last of these, or one that a reason was found for since */
	uint64_t gaps, lost_records, gap_ns;
	double keep_min; /* smallest probability of keeping a stack; 1: all */
	uint32_t nmin;   /* as it stood at the end */
};
