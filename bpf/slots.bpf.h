/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the scheduler into the slot ring of this CPU. Only for programs that run with
 * interrupts off: nothing comes between slot_begin() and slot_end().
 */
#pragma once

#include "emit.bpf.h"

_Static_assert(sizeof(struct ev_sched_switch) <= sizeof(struct slot) &&
		       sizeof(struct ev_sched_wake) <= sizeof(struct slot) &&
		       sizeof(struct ev_sched_hidden) <= sizeof(struct slot),
	       "each has a slot to itself");

/* Space for a record, its header filled in; NULL and counted when there is none. */
static __always_inline void *slot_begin(struct cpu_counts *here, enum event_id id, __u32 thread)
{
	__u64 at = here->slots_begun;
	struct ev_header *header;
	__u32 index;

	if (at - here->slots_read > slot_mask)
		goto lost;
	if (at - here->slots_read == slot_mask / 2)
		bell_ring(BELL_FULL);
	/* Once this record has space: as long as more are lost, each would be a gap of its own. */
	if (!gap_is_reported())
		goto lost;
	index = bpf_get_smp_processor_id() * (slot_mask + 1) + (at & slot_mask);
	header = bpf_map_lookup_elem(&slots, &index);
	if (!header)
		goto lost;
	/* Before the clock is read: see header_fill(). */
	*(volatile __u64 *)&here->slots_begun = at + 1;
	header_fill(header, id, thread);
	return header;
lost:
	event_lost();
	return NULL;
}

/* The record is complete. */
static __always_inline void slot_end(struct cpu_counts *here)
{
#ifdef __TARGET_ARCH_x86
	/* Stores are seen in their order. */
	barrier();
	*(volatile __u64 *)&here->slots_done = here->slots_begun;
#else
	/* A full barrier: pairs with the engine's acquire in slot_ring_drain(). */
	__sync_lock_test_and_set(&here->slots_done, here->slots_begun);
#endif
}
