/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/slot_ring.h"

#include <stdlib.h>

#include "base/memory.h"
#include "collect/ring/map_window.h"
#include "events.h"
#include "shared.h"

struct slot_ring {
	int map_fd;
	uint64_t offset; /* in the map */
	struct cpu_counts *counts;
	uint32_t slot_count;
};

struct slot_ring *slot_ring_new(int map_fd, uint64_t offset, uint32_t slot_count, struct cpu_counts *counts)
{
	struct slot_ring *ring = xcalloc(1, sizeof(*ring));

	*ring = (struct slot_ring){ map_fd, offset, counts, slot_count };
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

/* Hands over records from *at on, up to done or the end of the ring's memory. False: it stopped before. */
static bool read_slots(const struct slot_ring *ring, uint64_t *at, uint64_t done, ring_record_fn on_record, void *data)
{
	uint32_t first = *at & (ring->slot_count - 1), count = ring->slot_count - first;
	struct map_window window;
	const char *slots;
	uint32_t i = 0;

	if (done - *at < count)
		count = done - *at;
	slots = map_window_open(&window, ring->map_fd, ring->offset + first * sizeof(struct slot),
				count * sizeof(struct slot));
	if (!slots)
		return false;
	for (; i < count; i++) {
		const void *record = slots + i * sizeof(struct slot);

		if (on_record(data, record, record_bytes(record)))
			break;
	}
	map_window_close(&window);
	*at += i;
	return i == count;
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

	while (at != done && read_slots(ring, &at, done, on_record, data))
		;
	/* The CPU may write there again: pairs with slot_begin(), which writes only if there is space. */
	__atomic_store_n(&counts->slots_read, at, __ATOMIC_RELEASE);
	return (int64_t)(at - begun) >= 0;
}

double slot_ring_fill(const struct slot_ring *ring)
{
	uint64_t begun = __atomic_load_n(&ring->counts->slots_begun, __ATOMIC_ACQUIRE);

	return (double)(begun - ring->counts->slots_read) / ring->slot_count;
}
