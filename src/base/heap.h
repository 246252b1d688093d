/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap in an array of its user's: who has the earliest time is on top, of equal ones the one with the lowest number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
	uint64_t time_ns;
	uint64_t number;
};

static inline bool heap_is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->number < b->number);
}

/* Puts the entry at that place, which alone may be too late for it, into its own. */
static inline void heap_sift_down(struct heap_entry *heap, size_t count, size_t at)
{
	struct heap_entry moved = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && heap_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!heap_is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* Of entries in any order. */
static inline void heap_make(struct heap_entry *heap, size_t count)
{
	for (size_t i = count / 2; i--;)
		heap_sift_down(heap, count, i);
}
