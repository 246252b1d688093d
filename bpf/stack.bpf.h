/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call paths: takes the stack of the current thread, names it by a hash of all its frames
 * and their number, and sends the frames only when the engine has not had them.
 */
#pragma once

#include "emit.bpf.h"

/* How a stack may be thinned out: see stack_wanted(). */
struct stack_choice {
	bool is_wanted;
	__u32 keep;		/* probability times 2^32; 0: certain */
};

/*
 * Priority sampling: a slice at least as heavy as the threshold keeps its stack, a lighter
 * one with the probability weight / threshold. Weighing the kept ones by its inverse gives
 * unbiased sums whose variance is least for their number (Duffield, Lund, Thorup, J. ACM 2007).
 */
static __always_inline struct stack_choice stack_wanted(__u64 weight_ns)
{
	__u64 threshold_ns = keep_all_above_ns;
	__u64 keep;

	if (weight_ns >= threshold_ns)
		return (struct stack_choice){ .is_wanted = true };
	/* Both fit 32 bits: the engine never asks for a threshold above 4 s. */
	keep = (weight_ns << 32) / threshold_ns;
	/* Never rarer than one in a million, so that a weight stays a sane number. */
	if (keep < (1ull << 12))
		keep = 1ull << 12;
	return (struct stack_choice){ bpf_get_prandom_u32() < keep, keep };
}

/*
 * The rest of stack_take(): of what lies in scratch memory. A function of its own, for the verifier
 * looks at it once then, and not with all that each caller knows.
 */
__u64 stack_find(__u32 owner);

/* The kernel's frames, into scratch memory. Their number is nothing that the verifier should follow. */
static __always_inline void stack_begin(void *ctx, bool wants_kernel, __u32 owner)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &owner);
	long bytes;

	if (!s)
		return;
	s->owner = owner;
	s->first = 0;
	if (!wants_kernel)
		return;
	bytes = bpf_get_stack(ctx, s->frames, STACK_DEPTH_MAX * sizeof(__u64), 0);
	if (bytes > 0)
		s->first = bytes / sizeof(__u64);
}

/*
 * Sends the stack of the current thread if it is new, with the kernel's frames if wanted or asked
 * for. Returns its name, 0 when there is nothing to be read.
 */
static __always_inline __u64 stack_take(void *ctx, bool wants_kernel, enum scratch_owner owner)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = bpf_ktime_get_ns();
	__u64 stack, spent_ns, time;

	stack_begin(ctx, wants_kernel || kernel_stacks, owner);
	stack = stack_find(owner);
	spent_ns = bpf_ktime_get_ns() - begin_ns;
	here->stack_ns += spent_ns;
	time = spent_ns >> STACK_TIME_SHIFT;
	if (time >= STACK_TIMES)
		time = STACK_TIMES - 1;
	barrier_var(time);
	here->stack_times[time & (STACK_TIMES - 1)]++;
	return stack;
}
