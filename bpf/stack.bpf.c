// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The stack of a thread: names it, and sends it if the engine has not had it.
 */
#include "hash.bpf.h"
#include "stack.bpf.h"

/* Puts back the address of the caller of getaddrinfo(), if its place is among what was copied. */
static __always_inline void memory_restore(struct memory_scratch *m, const struct stack_subject *subject, __u64 sp,
					   __u32 bytes)
{
	__u64 place = subject->return_at - ((sp & -(__u64)WORD_BYTES) - RED_ZONE_BYTES);

	if (place < bytes)
		m->words[(place / WORD_BYTES) & (MEMORY_WORDS_MAX - 1)] = subject->return_address;
}

static __always_inline void *ring_of(__u32 owner)
{
	return owner == SCRATCH_OF_SAMPLES ? sample_ring_here() : ring_here();
}

/* A sample that is lost is no gap in what threads do. */
static __always_inline bool may_send(__u32 owner)
{
	return owner == SCRATCH_OF_SAMPLES || gap_is_reported();
}

static __always_inline void stack_lost(__u32 owner)
{
	if (owner == SCRATCH_OF_SAMPLES)
		__sync_fetch_and_add(&counts_here()->samples_lost, 1);
	else
		event_lost();
}

/*
 * Sends the stack itself, under a name of its own: some of its code has no unwind tables yet. The
 * kernel's frames lie in s.
 */
static __always_inline __u64 memory_send(struct stack_scratch *s, __u32 kernel_count)
{
	__u32 owner = s->owner, bytes, i;
	struct memory_scratch *m = bpf_map_lookup_elem(&memory_scratch, &owner);
	struct ev_stack_memory *e;
	void *ring = ring_of(owner);

	if (!m || !ring)
		return 0;
	e = (struct ev_stack_memory *)m->event;
	header_fill(&e->header, EV_STACK_MEMORY, 0);
	for (i = 0; i < REGISTERS; i++)
		e->registers[i] = s->subject.registers[i];
	e->stack = hash_mix(hash_mix(e->header.time_ns, bpf_get_smp_processor_id()), e->registers[STACK_POINTER]) | 1;
	e->pid = s->subject.pid;
	bytes = memory_copy(m, NULL, e->registers[STACK_POINTER]);
	if (follows_hosts)
		memory_restore(m, &s->subject, e->registers[STACK_POINTER], bytes);
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
	/* The sooner the tables are there, the fewer are sent so. */
	bell_ring(BELL_TABLES);
	if (may_send(owner) && !bpf_ringbuf_output(ring, m, sizeof(*e) + bytes, BPF_RB_NO_WAKEUP))
		return e->stack;
	stack_lost(owner);
	return 0;
}

struct naming {
	struct stack_scratch *s;
	__u64 hash;
};

/* A callback of bpf_loop(), for which the verifier examines one frame, not each. */
static long frame_mix(__u32 index, void *data)
{
	struct naming *naming = data;

	naming->hash = hash_mix(naming->hash, naming->s->frames[index & (STACK_FRAMES_CAPACITY - 1)]);
	return 0;
}

/* A name for all that makes the stack what it is. */
__noinline __u64 stack_name(__u32 owner)
{
	struct naming naming = { .s = bpf_map_lookup_elem(&scratch, &owner) };
	struct stack_scratch *s = naming.s;
	__u32 count;
	__u64 hash;

	if (!s)
		return 0;
	count = s->first + s->unwind.count;
	bpf_loop(count < STACK_FRAMES_CAPACITY ? count : STACK_FRAMES_CAPACITY, frame_mix, &naming, 0);
	hash = hash_mix(naming.hash, (__u64)s->unwind.end << 56 | (__u64)s->first << 32 | count);
	/* What managed frames name is their process's own, and the engine has to hear of each. */
	if (s->managed_count)
		hash = hash_mix(hash, s->subject.pid);
	return hash ? hash : 1;
}

/* Sends the frames that lie in s, unless that was done. Returns their name. */
static __always_inline __u64 frames_send(struct stack_scratch *s, __u32 owner)
{
	__u32 count = s->first + s->unwind.count;
	struct ev_stack_frames *e;
	__u64 hash;
	void *ring;
	__u8 seen = 1;

	/* Where it runs, the sample says; within a managed function that is of no account. */
	if (owner == SCRATCH_OF_SAMPLES && !(s->frames[0] & STACK_FRAME_MANAGED))
		s->frames[0] = 0;
	hash = stack_name(owner);
	if (bpf_map_lookup_elem(&stacks_known, &hash))
		return hash;
	ring = ring_of(owner);
	if (!ring)
		return 0;
	e = (struct ev_stack_frames *)s->event;
	header_fill(&e->header, EV_STACK_FRAMES, s->managed_count ? s->subject.thread : 0);
	e->stack = hash;
	e->kernel_count = s->first;
	e->user_count = s->unwind.count;
	e->end = s->unwind.end;
	__builtin_memset(e->reserved, 0, sizeof(e->reserved));
	if (!may_send(owner) ||
	    bpf_ringbuf_output(ring, s, sizeof(*e) + (count & (STACK_FRAMES_CAPACITY - 1)) * sizeof(__u64),
			       BPF_RB_NO_WAKEUP))
		stack_lost(owner); /* not known then: the next one sends it */
	else
		remember(&stacks_known, &hash, &seen);
	if (s->managed_count && !names_rung) {
		names_rung = 1;
		bell_ring(BELL_NAMES);
	}
	return hash;
}

__noinline __u64 stack_find(__u32 owner)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &owner);
	struct cpu_counts *here = counts_here();

	if (!s)
		return 0;
	/* Only so many, or a program without tables could make us send nothing else. */
	stack_unwind(owner, (__s32)(here->memory_allowed - here->memory_sent) > 0);
	if (s->unwind.lacks_range) {
		if (memory_has_space(ring_of(owner)))
			return memory_send(s, s->first);
		stack_unwind(owner, false);
	}
	if (!(s->first + s->unwind.count))
		return 0;
	here->stack_ends[s->unwind.end & (STACK_ENDS - 1)]++;
	here->stack_frames += s->unwind.count;
	return frames_send(s, owner);
}

__noinline __u32 stack_place(__u32 owner, __u64 address, __u32 count)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &owner);
	__u32 i;

	if (!s)
		return count;
	for (i = 0; i < INTERRUPT_FRAMES_MAX; i++)
		if (i >= count || s->frames[i] == address)
			return i;
	return count;
}

__noinline __u64 stack_find_kernel(__u32 owner)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &owner);

	if (!s)
		return 0;
	s->unwind.count = 0;
	s->unwind.end = STACK_COMPLETE;
	s->managed_count = 0;
	return frames_send(s, owner);
}
