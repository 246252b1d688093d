/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/chunk_allocator.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "unwind_format.h"

struct extent {
	uint32_t place, count;
};

struct resting {
	struct extent extent;
	uint64_t given_ns;
	struct resting *next;
};

struct chunk_allocator {
	uint64_t rest_ns;
	struct extent *extents; /* free, by place; neighbours in a chunk are one */
	uint32_t extent_count, extent_capacity;
	struct resting *resting, **resting_last; /* the oldest first */
	uint32_t chunk_count;
	uint64_t used;
};

struct chunk_allocator *chunk_allocator_new(uint64_t rest_ns)
{
	struct chunk_allocator *allocator = xcalloc(1, sizeof(*allocator));

	allocator->rest_ns = rest_ns;
	allocator->resting_last = &allocator->resting;
	return allocator;
}

void chunk_allocator_free(struct chunk_allocator *allocator)
{
	if (!allocator)
		return;
	while (allocator->resting) {
		struct resting *next = allocator->resting->next;

		free(allocator->resting);
		allocator->resting = next;
	}
	free(allocator->extents);
	free(allocator);
}

/* Whether b begins where a ends, in the same chunk. */
static bool are_neighbours(struct extent a, struct extent b)
{
	return a.place + a.count == b.place && b.place % UNWIND_CHUNK_UNITS;
}

static void remove_at(struct chunk_allocator *allocator, uint32_t i)
{
	allocator->extent_count--;
	memmove(&allocator->extents[i], &allocator->extents[i + 1],
		(allocator->extent_count - i) * sizeof(*allocator->extents));
}

static void insert_at(struct chunk_allocator *allocator, uint32_t i, struct extent extent)
{
	ARRAY_GROW(allocator->extents, allocator->extent_count, allocator->extent_capacity, 16);
	memmove(&allocator->extents[i + 1], &allocator->extents[i],
		(allocator->extent_count - i) * sizeof(*allocator->extents));
	allocator->extents[i] = extent;
	allocator->extent_count++;
}

/* The first free extent behind a place. */
static uint32_t find_behind(const struct chunk_allocator *allocator, uint32_t place)
{
	return BOUND(0, allocator->extent_count, i, allocator->extents[i].place <= place);
}

static void make_free(struct chunk_allocator *allocator, struct extent extent)
{
	uint32_t i = find_behind(allocator, extent.place);
	bool joins_next = i < allocator->extent_count && are_neighbours(extent, allocator->extents[i]);
	bool joins_last = i && are_neighbours(allocator->extents[i - 1], extent);

	if (joins_next) {
		extent.count += allocator->extents[i].count;
		if (!joins_last) {
			allocator->extents[i] = extent;
			return;
		}
		remove_at(allocator, i);
	}
	if (joins_last)
		allocator->extents[i - 1].count += extent.count;
	else
		insert_at(allocator, i, extent);
}

static void end_rest(struct chunk_allocator *allocator, uint64_t now_ns)
{
	struct resting *oldest;

	while ((oldest = allocator->resting) && now_ns - oldest->given_ns >= allocator->rest_ns) {
		make_free(allocator, oldest->extent);
		allocator->resting = oldest->next;
		if (!oldest->next)
			allocator->resting_last = &allocator->resting;
		free(oldest);
	}
}

void chunk_allocator_add_chunk(struct chunk_allocator *allocator)
{
	make_free(allocator, (struct extent){ allocator->chunk_count * UNWIND_CHUNK_UNITS, UNWIND_CHUNK_UNITS });
	allocator->chunk_count++;
}

bool chunk_allocator_take(struct chunk_allocator *allocator, uint32_t count, uint64_t now_ns, uint32_t *place)
{
	end_rest(allocator, now_ns);
	for (uint32_t i = 0; i < allocator->extent_count; i++) {
		struct extent *extent = &allocator->extents[i];

		if (extent->count < count)
			continue;
		*place = extent->place;
		extent->place += count;
		extent->count -= count;
		if (!extent->count)
			remove_at(allocator, i);
		allocator->used += count;
		return true;
	}
	return false;
}

void chunk_allocator_give(struct chunk_allocator *allocator, uint32_t place, uint32_t count, uint64_t now_ns)
{
	struct resting *last = xcalloc(1, sizeof(*last));

	*last = (struct resting){ .extent = { place, count }, .given_ns = now_ns };
	*allocator->resting_last = last;
	allocator->resting_last = &last->next;
	allocator->used -= count;
}

uint32_t chunk_allocator_largest(struct chunk_allocator *allocator, uint64_t now_ns)
{
	uint32_t largest = 0;

	end_rest(allocator, now_ns);
	for (uint32_t i = 0; i < allocator->extent_count; i++)
		if (allocator->extents[i].count > largest)
			largest = allocator->extents[i].count;
	return largest;
}

uint64_t chunk_allocator_used(const struct chunk_allocator *allocator)
{
	return allocator->used;
}
