/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/thread_set.h"

#include <string.h>

#include "base/memory.h"

enum { CAPACITY_FIRST = 2 };

/* Of the first number that is not below. */
static uint32_t place_of(const struct thread_set *set, uint32_t number)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->numbers[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool thread_set_wants(const struct thread_set *set, uint32_t number)
{
	uint32_t place = place_of(set, number);

	if (place < set->count && set->numbers[place] == number)
		return false;
	return set->count < THREAD_SET_MAX;
}

size_t thread_set_bytes_wanted(const struct thread_set *set)
{
	size_t capacity = set->capacity ? 2 * (size_t)set->capacity : CAPACITY_FIRST;

	return set->count < set->capacity ? 0 : capacity * sizeof(*set->numbers);
}

void thread_set_move(struct thread_set *set, void *memory, size_t size_bytes)
{
	if (set->count)
		memcpy(memory, set->numbers, set->count * sizeof(*set->numbers));
	set->numbers = memory;
	set->capacity = size_bytes / sizeof(*set->numbers);
}

void thread_set_add(struct thread_set *set, uint32_t number)
{
	uint32_t place = place_of(set, number);

	memmove(&set->numbers[place + 1], &set->numbers[place], (set->count - place) * sizeof(*set->numbers));
	set->numbers[place] = number;
	set->count++;
}

bool thread_set_put(struct thread_set *set, struct arena *arena, uint32_t number)
{
	size_t size_bytes = thread_set_bytes_wanted(set);

	if (!thread_set_wants(set, number))
		return false;
	if (size_bytes)
		thread_set_move(set, arena_alloc(arena, size_bytes), size_bytes);
	thread_set_add(set, number);
	return true;
}
