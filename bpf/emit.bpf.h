/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records into the ring buffer of this CPU, and what both of its rings need; switches and
 * wake-ups have theirs in slots.bpf.h. Nobody is woken for a record: the engine polls. Only what enum bell
 * lists rings the doorbell.
 */
#pragma once

#include "state.bpf.h"

static __always_inline void header_fill(struct ev_header *header, enum event_id id, __u32 thread)
{
	/*
	 * The clock is read after the space was reserved. So a reader that has seen a ring's
	 * reservations at time t has seen all records with an earlier time.
	 */
	header->time_ns = bpf_ktime_get_ns();
	header->thread = thread;
	header->subsys = id >> 16;
	header->event = id & 0xffff;
}

/* All but the header, in words: the size is a multiple of 8. */
static __always_inline void event_clear(void *event, __u32 size)
{
	__builtin_memset(__builtin_assume_aligned(event + sizeof(struct ev_header), sizeof(__u64)), 0,
			 size - sizeof(struct ev_header));
}

static __always_inline struct cpu_counts *counts_here(void)
{
	return &cpu_counts[bpf_get_smp_processor_id() & (KERNEL_CPUS_MAX - 1)];
}

/*
 * The same value, of which the verifier does not know any more what it can be: it would follow each
 * of them through all that comes after. A call would do that, too, but takes ten times as long.
 */
static __always_inline __u64 unfollowed(struct cpu_counts *here, __u64 value)
{
	*(volatile __u64 *)&here->unfollowed = value;
	return *(volatile __u64 *)&here->unfollowed;
}

/* A full bell has rung. */
static __always_inline long bell_ring(enum bell bell)
{
	__u8 record = bell;

	return bpf_ringbuf_output(&doorbell, &record, sizeof(record), BPF_RB_FORCE_WAKEUP);
}

static __always_inline struct system_cpu *system_here(void)
{
	return &system_cpus[bpf_get_smp_processor_id() & (KERNEL_CPUS_MAX - 1)];
}

static __always_inline void *ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* Of interrupts by timers alone: what they interrupt may be in the middle of a record in the other one. */
static __always_inline void *sample_ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&sample_rings, &cpu);
}

/* Gives the engine, as soon as there is space again, that records are missing. 0: not yet. */
static __noinline int gap_report(void)
{
	struct cpu_counts *here = counts_here();
	void *ring = ring_here();
	struct ev_collect_gap *e;

	if (!ring)
		return 0;
	e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e)
		return 0;
	header_fill(&e->header, EV_COLLECT_GAP, 0);
	e->lost = __sync_lock_test_and_set(&here->lost_unreported, 0);
	e->cpu = bpf_get_smp_processor_id();
	e->reserved = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 1;
}

/* Whether the next record may go out: a slot may be free where the gap's record does not fit. */
static __always_inline bool gap_is_reported(void)
{
	return !counts_here()->lost_unreported || gap_report();
}

static __always_inline void event_lost(void)
{
	struct cpu_counts *here = counts_here();

	__sync_fetch_and_add(&here->lost_unreported, 1);
	__sync_fetch_and_add(&here->lost, 1);
}

/* Space for a record, its header filled in. A full ring is counted, never ignored. */
static __always_inline void *event_reserve(enum event_id id, __u32 thread, __u64 size)
{
	void *ring = ring_here();
	struct ev_header *header;

	if (!ring || !gap_is_reported()) {
		event_lost();
		return NULL;
	}
	header = bpf_ringbuf_reserve(ring, size, 0);
	if (!header) {
		event_lost();
		return NULL;
	}
	header_fill(header, id, thread);
	return header;
}

static __always_inline void event_submit(void *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/*
 * Notes in a map that the engine has been informed of something. While the map's own locks are held, who
 * waits for a lock (klock.bpf.c) must not come back here.
 */
static __always_inline void remember(void *known, const void *key, const void *value)
{
	volatile __u32 *is_remembering = &counts_here()->is_remembering;
	__u32 was_remembering = *is_remembering; /* an interrupt may come before the locks are held */

	*is_remembering = 1;
	bpf_map_update_elem(known, key, value, BPF_ANY);
	*is_remembering = was_remembering;
}

/* For a stack as it lies in memory. Other records need some, too. */
static __always_inline bool memory_has_space(void *ring)
{
	return ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + sizeof(struct memory_scratch) <
			       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
}
