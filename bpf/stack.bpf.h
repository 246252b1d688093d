/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call paths: takes the stack of the current thread, names it by a hash of all its frames
 * and their number, and sends the frames only when the engine has not had them.
 */
#pragma once

#include "emit.bpf.h"
#include "unwind.bpf.h"

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

static __always_inline __u64 frame_mix(__u64 hash, __u64 frame)
{
	hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 32);
}

/* Reads the user's stack from sp on, and its red zone; returns the number of bytes, whole words. */
static __always_inline __u32 memory_copy(struct memory_scratch *m, __u64 sp)
{
	__u32 done = 0, bytes, i;

	sp = (sp & -(__u64)WORD_BYTES) - RED_ZONE_BYTES;
	for (i = 0; i < MEMORY_PAGES; i++) {
		bytes = PAGE_BYTES - (sp & (PAGE_BYTES - 1));
		barrier_var(bytes);
		if (bytes > PAGE_BYTES || done > (MEMORY_PAGES - 1) * PAGE_BYTES ||
		    bpf_probe_read_user((char *)m->words + done, bytes, (void *)sp))
			break;
		done += bytes;
		sp += bytes;
	}
	return done;
}

/* Other records need some, too. */
static __always_inline bool memory_has_room(void)
{
	void *ring = ring_here();

	return ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + sizeof(struct memory_scratch) <
		       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
}

/*
 * Sends the stack itself, under a name of its own: some of its code has no unwind tables yet. The
 * kernel's frames lie in s.
 */
static __always_inline __u64 memory_send(struct stack_scratch *s, __u32 kernel_count)
{
	__u32 zero = 0, bytes, i;
	struct memory_scratch *m = bpf_map_lookup_elem(&memory_scratch, &zero);
	struct ev_stack_memory *e;
	void *ring = ring_here();

	if (!m || !ring)
		return 0;
	e = (struct ev_stack_memory *)m->event;
	header_fill(&e->header, EV_STACK_MEMORY, 0);
	for (i = 0; i < REGISTERS; i++)
		register_read(&s->unwind, i, &e->registers[i]);
	e->stack = frame_mix(frame_mix(e->header.time_ns, bpf_get_smp_processor_id()),
			     e->registers[STACK_POINTER]) | 1;
	e->pid = bpf_get_current_task_btf()->tgid;
	bytes = memory_copy(m, e->registers[STACK_POINTER]);
	e->word_count = bytes / sizeof(__u64);
	e->kernel_count = kernel_count;
	kernel_count *= sizeof(__u64);
	barrier_var(bytes);
	barrier_var(kernel_count);
	if (bytes > MEMORY_PAGES * PAGE_BYTES || kernel_count > STACK_DEPTH_MAX * sizeof(__u64))
		return 0;
	bpf_probe_read_kernel((char *)m->words + bytes, kernel_count, s->frames);
	bytes += kernel_count;
	counts_here()->memory_sent++;
	/* The sooner the tables are there, the fewer are sent so. A full bell has rung. */
	bpf_ringbuf_output(&bell, &zero, 1, BPF_RB_FORCE_WAKEUP);
	if (gap_is_told() &&
	    !bpf_ringbuf_output(ring, m, sizeof(*e) + bytes, BPF_RB_NO_WAKEUP))
		return e->stack;
	event_lost();
	return 0;
}

/* As stack_take(). Not inlined: it is large, and verified once. */
static __noinline __u64 stack_find(void *ctx, bool wants_kernel)
{
	__u32 zero = 0;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	struct cpu_counts *here = counts_here();
	struct ev_stack_frames *e;
	__u32 kernel_count = 0, user_count, count, i;
	long kernel_bytes;
	__u64 hash = 0;
	void *ring;
	__u8 seen = 1, end;

	if (!s)
		return 0;
	if (wants_kernel) {
		kernel_bytes = bpf_get_stack(ctx, s->frames, STACK_DEPTH_MAX * sizeof(__u64), 0);
		if (kernel_bytes > 0)
			kernel_count = kernel_bytes / sizeof(__u64);
	}
	/* Only so many, or a program without tables could make us send nothing else. */
	unwind_user(s, kernel_count, (__s32)(here->memory_allowed - here->memory_sent) > 0);
	if (s->unwind.lacks_range) {
		if (memory_has_room())
			return memory_send(s, kernel_count);
		unwind_user(s, kernel_count, false);
	}
	user_count = s->unwind.count;
	end = s->unwind.end;
	count = kernel_count + user_count;
	if (!count)
		return 0;
	here->stack_ends[end & (STACK_ENDS - 1)]++;
	here->stack_frames += user_count;
	for (i = 0; i < STACK_FRAMES_ROOM; i++) {
		if (i >= count)
			break;
		hash = frame_mix(hash, s->frames[i]);
	}
	hash = frame_mix(hash, (__u64)end << 56 | (__u64)kernel_count << 32 | count);
	/* Code objects are their process's own, and the engine has to hear of each. */
	if (s->python.total)
		hash = frame_mix(hash, bpf_get_current_task_btf()->tgid);
	if (!hash)
		hash = 1;
	if (bpf_map_lookup_elem(&stacks_known, &hash))
		return hash;

	ring = ring_here();
	if (!ring)
		return 0;
	e = (struct ev_stack_frames *)s->event;
	header_fill(&e->header, EV_STACK_FRAMES, s->python.total ? s->thread : 0);
	e->stack = hash;
	e->kernel_count = kernel_count;
	e->user_count = user_count;
	e->end = end;
	__builtin_memset(e->reserved, 0, sizeof(e->reserved));
	if (!gap_is_told() ||
	    bpf_ringbuf_output(ring, s, sizeof(*e) + (count & (STACK_FRAMES_ROOM - 1)) * sizeof(__u64),
			       BPF_RB_NO_WAKEUP))
		event_lost();	/* not known then: the next one sends it */
	else
		bpf_map_update_elem(&stacks_known, &hash, &seen, BPF_ANY);
	return hash;
}

/*
 * Sends the stack of the current thread if it is new, with the kernel's frames if wanted or asked
 * for. Returns its name, 0 when there is nothing to be read.
 */
static __always_inline __u64 stack_take(void *ctx, bool wants_kernel)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = bpf_ktime_get_ns();
	__u64 stack = stack_find(ctx, wants_kernel || kernel_stacks);

	here->stack_ns += bpf_ktime_get_ns() - begin_ns;
	return stack;
}
