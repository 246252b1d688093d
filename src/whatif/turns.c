/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/turns.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

void turns_init(struct turns *turns, size_t count_max)
{
	*turns = (struct turns){ .capacity = count_max };
	turns->heap = xcalloc(count_max + 1, sizeof(*turns->heap));
}

void turns_fini(struct turns *turns)
{
	free(turns->heap);
}

static bool is_before(const struct turn *a, const struct turn *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

void turns_add(struct turns *turns, uint64_t time_ns, uint32_t life)
{
	struct turn turn = { time_ns, turns->added++, life };
	size_t at = turns->count++;

	assert(turns->count <= turns->capacity);
	for (; at && is_before(&turn, &turns->heap[(at - 1) / 2]); at = (at - 1) / 2)
		turns->heap[at] = turns->heap[(at - 1) / 2];
	turns->heap[at] = turn;
}

bool turns_take(struct turns *turns, uint64_t *time_ns, uint32_t *life)
{
	struct turn *heap = turns->heap, last;
	size_t at = 0;

	if (!turns->count)
		return false;
	*time_ns = heap[0].time_ns;
	*life = heap[0].life;
	last = heap[--turns->count];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < turns->count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= turns->count || !is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return true;
}
