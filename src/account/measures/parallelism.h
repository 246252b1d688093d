/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many threads live and how many of them are active, and the integrals of that over
 * time from which every metric follows. The caller owns the struct, which begins zeroed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/metrics.h"

/* PARALLELISM_PAST: of changes of n, how many are remembered; a power of two. */
enum { TIMELINE_BUCKETS = 512, PARALLELISM_PAST = 256 };

/* Thread-nanoseconds; only hostile time stamps need more than 64 bits. */
typedef unsigned __int128 thread_ns;

/* What was so from then on. */
struct parallelism_moment {
	uint64_t time_ns;
	uint32_t active;
	bool is_critical;
};

struct parallelism {
	uint32_t active, alive; /* n and N */
	uint32_t active_max, alive_max;
	uint32_t spinning;    /* active except for that: they are not in n */
	uint32_t nmin_option; /* 0: half of the living threads */
	uint64_t now_ns;
	fixed_ns share;          /* integral of dt / n: an always active thread's CMetric */
	uint64_t share_carry;    /* what the last division left: nothing is dropped */
	fixed_ns share_critical; /* that integral over critical time alone */
	thread_ns integral;      /* of n dt */

	bool has_begun;
	uint64_t begin_ns, end_ns; /* of the time in which threads lived */
	uint64_t wall_ns, active_ns, stalled_ns, critical_ns;
	uint64_t spun_ns;  /* stalled, and some thread spun */
	uint64_t *time_at; /* [n] */
	size_t time_at_count;

	struct parallelism_moment past[PARALLELISM_PAST]; /* [change_count % PARALLELISM_PAST] is the next one */
	uint64_t change_count;

	/* Mean activity over time, in buckets that double their width when they run out. */
	thread_ns buckets[TIMELINE_BUCKETS];
	unsigned int bucket_shift; /* a bucket is 2^bucket_shift ns wide */
};

void parallelism_fini(struct parallelism *p);

/* Charges the time up to now_ns. Time does not run backwards: an earlier now_ns is ignored. */
void parallelism_advance(struct parallelism *p, uint64_t now_ns);

/* As of now_ns, n and N change by active and alive. */
void parallelism_change(struct parallelism *p, int active, int alive);

/* What was so at time_ns, which is not after now_ns; if that is too long ago, the oldest that is remembered. */
struct parallelism_moment parallelism_at(const struct parallelism *p, uint64_t time_ns);

/* As of now_ns, the number of threads that spin changes; whether they are in n is the caller's. */
void parallelism_change_spinning(struct parallelism *p, int spinning);

/* Whether a mean activity of integral / length_ns is at most N_min. */
bool parallelism_is_critical(const struct parallelism *p, thread_ns integral, uint64_t length_ns);

/* See criticality_timeline(). */
size_t parallelism_timeline(const struct parallelism *p, double *average, size_t count);
