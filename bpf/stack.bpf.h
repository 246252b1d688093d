/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call paths: takes the stack of the current thread, names it by a hash of all its frames
 * and their number, and sends the frames only when the engine has not had them. The user's
 * frames are found by frame pointers; another way of unwinding replaces user_frames().
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

/* Fills in return addresses, innermost first; bytes written, or negative. */
static __always_inline long user_frames(void *ctx, __u64 *frames)
{
	return bpf_get_stack(ctx, frames, (stack_depth & 127) * sizeof(*frames),
			     BPF_F_USER_STACK);
}

static __always_inline __u64 frame_mix(__u64 hash, __u64 frame)
{
	hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 32);
}

/* As stack_take(). Not inlined: it is large, and verified once. */
static __noinline __u64 stack_find(void *ctx)
{
	__u32 zero = 0;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	struct ev_stack_frames *e;
	long kernel_bytes = 0, user_bytes;
	__u64 hash = 0;
	__u32 count, i;
	void *ring;
	__u8 seen = 1;

	if (!s)
		return 0;
	if (kernel_stacks) {
		kernel_bytes = bpf_get_stack(ctx, s->frames, STACK_DEPTH_MAX * sizeof(__u64), 0);
		if (kernel_bytes < 0)
			kernel_bytes = 0;
	}
	kernel_bytes &= 1023;
	user_bytes = user_frames(ctx, (void *)s->frames + kernel_bytes);
	if (user_bytes < 0)
		user_bytes = 0;
	count = (kernel_bytes + (user_bytes & 1023)) / sizeof(__u64);
	if (!count)
		return 0;
	for (i = 0; i < 2 * STACK_DEPTH_MAX; i++) {
		if (i >= count)
			break;
		hash = frame_mix(hash, s->frames[i]);
	}
	hash = frame_mix(hash, (__u64)kernel_bytes << 32 | count);
	if (!hash)
		hash = 1;
	if (bpf_map_lookup_elem(&stacks_known, &hash))
		return hash;

	ring = ring_here();
	if (!ring)
		return 0;
	e = (struct ev_stack_frames *)s->event;
	header_fill(&e->header, EV_STACK_FRAMES, 0);
	e->stack = hash;
	e->kernel_count = kernel_bytes / sizeof(__u64);
	e->user_count = (user_bytes & 1023) / sizeof(__u64);
	e->reserved = 0;
	if (!gap_is_told() ||
	    bpf_ringbuf_output(ring, s, sizeof(*e) + (count & 255) * sizeof(__u64),
			       BPF_RB_NO_WAKEUP))
		event_lost();	/* not known then: the next one sends it */
	else
		bpf_map_update_elem(&stacks_known, &hash, &seen, BPF_ANY);
	return hash;
}

/*
 * Sends the stack of the current thread if it is new. Returns its name, 0 when there is
 * nothing to be read.
 */
static __always_inline __u64 stack_take(void *ctx)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = bpf_ktime_get_ns();
	__u64 stack = stack_find(ctx);

	here->stack_ns += bpf_ktime_get_ns() - begin_ns;
	return stack;
}
