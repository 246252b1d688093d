/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a ring while its thread writes, as pinchtrace_format.h has it. */
#pragma once

#include <stdint.h>

#include "pinchtrace_format.h"

#define RING_COPY_MAX 256

struct ring_copy {
	uint64_t begin; /* index of the first slot that is whole */
	uint32_t count; /* of slots from there on, in slots */
	const struct pinchtrace_slot *slots;
	struct pinchtrace_slot storage[RING_COPY_MAX];
};

/* Copies from index on, up to head, at most RING_COPY_MAX slots. */
static inline void ring_copy_take(struct ring_copy *copy, const struct pinchtrace_ring *ring, uint64_t capacity,
				  uint64_t index, uint64_t head)
{
	const uint64_t *slots = (const uint64_t *)((const unsigned char *)ring + PINCHTRACE_RING_HEADER_BYTES);
	uint64_t *to = (uint64_t *)copy->storage, claim, at;
	uint64_t end = head - index < RING_COPY_MAX ? head : index + RING_COPY_MAX;

	for (at = index; at < end; at++) {
		*to++ = __atomic_load_n(&slots[2 * (at & (capacity - 1))], __ATOMIC_RELAXED);
		*to++ = __atomic_load_n(&slots[2 * (at & (capacity - 1)) + 1], __ATOMIC_RELAXED);
	}
	/* If a slot's words are newer, so is claim: pairs with the fence of the writer between claim and slots. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	claim = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED);
	/* Whatever others have written there, it lies between index and end. */
	copy->begin = (int64_t)(claim - index) > (int64_t)capacity ? claim - capacity : index;
	if ((int64_t)(end - copy->begin) < 0)
		copy->begin = end;
	copy->count = end - copy->begin;
	copy->slots = copy->storage + (copy->begin - index);
}

static inline uint32_t slot_mark(const struct pinchtrace_slot *slot)
{
	return slot->time >> 32;
}

/* How many slots of these the event takes that begins there; 0: they lack some of it, or it is not the first one of any. */
static inline uint32_t ring_copy_event(const struct pinchtrace_slot *slots, uint32_t count)
{
	uint32_t following;

	if (!count || slot_mark(slots) & PINCHTRACE_MORE)
		return 0;
	if (count == 1 || !(slot_mark(slots + 1) & PINCHTRACE_MORE))
		return 1;
	following = PINCHTRACE_MORE_FOLLOWING(slot_mark(slots + 1));
	return 2 + following <= count ? 2 + following : 0;
}
