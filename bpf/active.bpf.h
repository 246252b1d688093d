/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many threads are active, and what that makes of a slice: whether it is critical, and
 * how much it weighs. Approximate by the ns in which CPUs overtake each other; the engine
 * computes the exact metrics from the records, this only decides about stacks.
 */
#pragma once

#include "state.bpf.h"

enum { INTEGRAL_BITS = 48 };
#define INTEGRAL_MASK ((1ull << INTEGRAL_BITS) - 1)

static __always_inline __u32 active_count(void)
{
	return *(volatile __u64 *)&activity & 0xffff;
}

/* Thread-nanoseconds of activity up to now_ns, modulo 2^48; only differences mean anything. */
static __always_inline __u64 active_integral(__u64 word, __u64 now_ns)
{
	return ((word & 0xffff) * now_ns - (word >> 16)) & INTEGRAL_MASK;
}

/*
 * The number of active threads changes by change (-1, 0 or 1) at now_ns. Returns the word, so
 * that nobody has to fetch it from another CPU again; that it lacks the change makes no
 * difference to the integral up to now_ns.
 */
static __always_inline __u64 active_add(__s64 change, __u64 now_ns)
{
	if (change)
		return __sync_fetch_and_add(&activity, change * ((now_ns << 16) + 1));
	return *(volatile __u64 *)&activity;
}

/* 1 or 0; without a branch, or the verifier would follow both ways. */
static __always_inline __s64 is_active_phase(__u32 phase)
{
	return (1 << PHASE_RUNNABLE | 1 << PHASE_RUNNING) >> (phase & 31) & 1;
}

/*
 * Moves the thread to another phase, whichever it has, and counts. Returns the one before, and
 * in *word what active_add() does.
 */
static __always_inline __u32 phase_set(struct thread_state *thread, __u32 phase, __u64 now_ns, __u64 *word)
{
	__u32 before = thread->phase;

	/* The iterator may be filling in the phase at this moment: let one of us win. */
	if (before == PHASE_UNKNOWN)
		before = __sync_lock_test_and_set(&thread->phase, phase);
	else
		thread->phase = phase;
	*word = active_add(is_active_phase(phase) - is_active_phase(before), now_ns);
	return before;
}

/* Twice N_min, so that half of an odd number of threads stays exact. */
static __always_inline __u64 nmin_doubled(void)
{
	__u64 alive = threads_alive;

	/* More than can be active is as good as all; a product with a length must not overflow. */
	if (nmin)
		return 2 * (__u64)(nmin < THREADS_ACTIVE_MAX ? nmin : THREADS_ACTIVE_MAX);
	return alive < 2 ? 2 : alive;
}

static __always_inline void slice_begin(struct thread_state *thread, __u32 cpu, __u64 word, __u64 now_ns)
{
	thread->slice_begin_ns = now_ns;
	thread->slice_begin_integral = active_integral(word, now_ns);
	thread->cpu = cpu;
}

struct slice {
	__u64 length_ns;
	__u64 integral; /* thread-ns of activity while it lasted */
};

static __always_inline struct slice slice_of(const struct thread_state *thread, __u64 word, __u64 now_ns)
{
	__u64 integral = (active_integral(word, now_ns) - thread->slice_begin_integral) & INTEGRAL_MASK;

	/* Another CPU's change of before the slice came during it: a short one is negative then. */
	if (integral >> (INTEGRAL_BITS - 1))
		integral = 0;
	return (struct slice){ now_ns - thread->slice_begin_ns, integral };
}

/*
 * Whether the engine will find the slice critical: mean activity at most N_min, limit / 2. A
 * little generous, because the engine orders the CPUs' clocks to the nanosecond and may differ.
 */
static __always_inline bool slice_is_critical(struct slice slice, __u64 limit)
{
	/* So long that the integral may have wrapped; and so rare that a stack costs nothing. */
	if (slice.length_ns >> (INTEGRAL_BITS - 16))
		return true;
	return 2 * slice.integral <= slice.length_ns * limit + (slice.length_ns >> 9) + 4096;
}

/* The slice's CMetric, ns: its length over the mean number of active threads. */
static __always_inline __u64 slice_weight(struct slice slice)
{
	__u64 mean_x16;

	if (!slice.length_ns)
		return 0;
	mean_x16 = (slice.integral << 4) / slice.length_ns;
	return mean_x16 > 16 ? (slice.length_ns << 4) / mean_x16 : slice.length_ns;
}
