/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/slot_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "events.h"
#include "shared.h"

struct slot_ring {
	const struct slot *slots;
	struct cpu_counts *counts;
	uint32_t slot_count;
	size_t map_bytes;
};

int slot_ring_open(int map_fd, uint32_t slot_count, struct cpu_counts *counts,
		   struct slot_ring **out)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE);
	size_t map_bytes = (slot_count * sizeof(struct slot) + page_bytes - 1) & -page_bytes;
	struct slot_ring *ring;
	void *memory;

	memory = mmap(NULL, map_bytes, PROT_READ, MAP_SHARED, map_fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ring = xcalloc(1, sizeof(*ring));
	ring->slots = memory;
	ring->counts = counts;
	ring->slot_count = slot_count;
	ring->map_bytes = map_bytes;
	*out = ring;
	return 0;
}

void slot_ring_close(struct slot_ring *ring)
{
	if (!ring)
		return;
	munmap((void *)ring->slots, ring->map_bytes);
	free(ring);
}

static size_t record_bytes(const struct ev_header *header)
{
	return header->event == TRACE_EVENT_SCHED_WAKE ? sizeof(struct ev_sched_wake)
						       : sizeof(struct ev_sched_switch);
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
	/* The CPU may write there again: pairs with slot_begin(), which writes only if there is room. */
	__atomic_store_n(&counts->slots_read, at, __ATOMIC_RELEASE);
	return (int64_t)(at - begun) >= 0;
}

double slot_ring_fill(const struct slot_ring *ring)
{
	uint64_t begun = __atomic_load_n(&ring->counts->slots_begun, __ATOMIC_ACQUIRE);

	return (double)(begun - ring->counts->slots_read) / ring->slot_count;
}
