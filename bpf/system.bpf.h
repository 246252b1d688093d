/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of what the machine does besides its threads (--system). They come from threads and from
 * interrupts of both kinds, which interrupt each other: their ring buffer is one that takes its lock
 * with interrupts off, and nothing that cannot be held off writes to it.
 */
#pragma once

#include "emit.bpf.h"

static __always_inline void system_lost(struct system_cpu *here)
{
	__sync_fetch_and_add(&here->lost_unreported, 1);
	__sync_fetch_and_add(&here->lost, 1);
}

/* Whether the next record may go out: what is missing before it has been recorded. */
static __noinline int system_loss_is_recorded(void *ring)
{
	struct system_cpu *here = system_here();
	struct ev_system_lost *e;

	if (!here->lost_unreported)
		return 1;
	e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e)
		return 0;
	header_fill(&e->header, EV_SYSTEM_LOST, 0);
	e->lost = __sync_lock_test_and_set(&here->lost_unreported, 0);
	e->cpu = bpf_get_smp_processor_id();
	e->reserved = 0;
	event_submit(e);
	return 1;
}

/* Space for a record, empty except for its header. A full ring is counted, never ignored. */
static __always_inline void *system_reserve(enum event_id id, __u32 thread, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&system_rings, &cpu);
	struct ev_header *header = NULL;

	if (ring && system_loss_is_recorded(ring))
		header = bpf_ringbuf_reserve(ring, size, 0);
	if (!header) {
		system_lost(system_here());
		return NULL;
	}
	header_fill(header, id, thread);
	event_clear(header, size);
	return header;
}
