/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/slot_ring.h"

#include <stdlib.h>

#include "base/memory.h"
#include "events.h"
#include "shared.h"

struct slot_ring {
	const struct slot *slots;
	struct cpu_counts *counts;
	uint32_t slot_count;
};

struct slot_ring *slot_ring_new(const struct slot *slots, uint32_t slot_count, struct cpu_counts *counts)
{
	struct slot_ring *ring = xcalloc(1, sizeof(*ring));

	*ring = (struct slot_ring){ .slots = slots, .counts = counts, .slot_count = slot_count };
	return ring;
}

void slot_ring_free(struct slot_ring *ring)
{
	free(ring);
}

static size_t record_bytes(const struct ev_header *header)
{
	switch (header->event) {
	case TRACE_EVENT_SCHED_WAKE:
		return sizeof(struct ev_sched_wake);
	case TRACE_EVENT_SCHED_HIDDEN:
		return sizeof(struct ev_sched_hidden);
	default:
		return sizeof(struct ev_sched_switch);
	}
}

bool slot_ring_drain(struct slot_ring *ring, ring_record_fn on_record, void *data)
{
	struct cpu_counts *counts = ring->counts;
	/*
	 * In this order: what has begun by now and is not done then, is being written. Done pairs
	 * with slot_end(), which stores it after the record.
	 */
	uint64_t begun = __atomic_load_n(&counts->slots_begun, __ATOMIC_ACQUIRE);
	uint64_t done = __atomic_load_n(&counts->slots_done, __ATOMIC_ACQUIRE);
	uint64_t at = counts->slots_read;

	for (; at != done; at++) {
		const void *record = &ring->slots[at & (ring->slot_count - 1)];

		if (on_record(data, record, record_bytes(record)))
			break;
	}
	/* The CPU may write there again: pairs with slot_begin(), which writes only if there is space. */
	__atomic_store_n(&counts->slots_read, at, __ATOMIC_RELEASE);
	return (int64_t)(at - begun) >= 0;
}

double slot_ring_fill(const struct slot_ring *ring)
{
	uint64_t begun = __atomic_load_n(&ring->counts->slots_begun, __ATOMIC_ACQUIRE);

	return (double)(begun - ring->counts->slots_read) / ring->slot_count;
}
