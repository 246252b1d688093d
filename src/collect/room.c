/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/room.h"

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

struct room {
	uint64_t rest_ns;
	struct extent *extents; /* free, by place; neighbours in a chunk are one */
	uint32_t extent_count, extent_room;
	struct resting *resting, **resting_last; /* the oldest first */
	uint32_t chunk_count;
	uint64_t used;
};

struct room *room_new(uint64_t rest_ns)
{
	struct room *room = xcalloc(1, sizeof(*room));

	room->rest_ns = rest_ns;
	room->resting_last = &room->resting;
	return room;
}

void room_free(struct room *room)
{
	if (!room)
		return;
	while (room->resting) {
		struct resting *next = room->resting->next;

		free(room->resting);
		room->resting = next;
	}
	free(room->extents);
	free(room);
}

/* Whether b begins where a ends, in the same chunk. */
static bool are_neighbours(struct extent a, struct extent b)
{
	return a.place + a.count == b.place && b.place % UNWIND_CHUNK_UNITS;
}

static void remove_at(struct room *room, uint32_t i)
{
	room->extent_count--;
	memmove(&room->extents[i], &room->extents[i + 1], (room->extent_count - i) * sizeof(*room->extents));
}

static void insert_at(struct room *room, uint32_t i, struct extent extent)
{
	ARRAY_GROW(room->extents, room->extent_count, room->extent_room, 16);
	memmove(&room->extents[i + 1], &room->extents[i], (room->extent_count - i) * sizeof(*room->extents));
	room->extents[i] = extent;
	room->extent_count++;
}

/* The first free extent behind a place. */
static uint32_t find_behind(const struct room *room, uint32_t place)
{
	return BOUND(0, room->extent_count, i, room->extents[i].place <= place);
}

static void make_free(struct room *room, struct extent extent)
{
	uint32_t i = find_behind(room, extent.place);
	bool joins_next = i < room->extent_count && are_neighbours(extent, room->extents[i]);
	bool joins_last = i && are_neighbours(room->extents[i - 1], extent);

	if (joins_next) {
		extent.count += room->extents[i].count;
		if (!joins_last) {
			room->extents[i] = extent;
			return;
		}
		remove_at(room, i);
	}
	if (joins_last)
		room->extents[i - 1].count += extent.count;
	else
		insert_at(room, i, extent);
}

static void end_rest(struct room *room, uint64_t now_ns)
{
	struct resting *oldest;

	while ((oldest = room->resting) && now_ns - oldest->given_ns >= room->rest_ns) {
		make_free(room, oldest->extent);
		room->resting = oldest->next;
		if (!oldest->next)
			room->resting_last = &room->resting;
		free(oldest);
	}
}

void room_add_chunk(struct room *room)
{
	make_free(room, (struct extent){ room->chunk_count * UNWIND_CHUNK_UNITS, UNWIND_CHUNK_UNITS });
	room->chunk_count++;
}

bool room_take(struct room *room, uint32_t count, uint64_t now_ns, uint32_t *place)
{
	end_rest(room, now_ns);
	for (uint32_t i = 0; i < room->extent_count; i++) {
		struct extent *extent = &room->extents[i];

		if (extent->count < count)
			continue;
		*place = extent->place;
		extent->place += count;
		extent->count -= count;
		if (!extent->count)
			remove_at(room, i);
		room->used += count;
		return true;
	}
	return false;
}

void room_give(struct room *room, uint32_t place, uint32_t count, uint64_t now_ns)
{
	struct resting *last = xcalloc(1, sizeof(*last));

	*last = (struct resting){ .extent = { place, count }, .given_ns = now_ns };
	*room->resting_last = last;
	room->resting_last = &last->next;
	room->used -= count;
}

uint32_t room_largest(struct room *room, uint64_t now_ns)
{
	uint32_t largest = 0;

	end_rest(room, now_ns);
	for (uint32_t i = 0; i < room->extent_count; i++)
		if (room->extents[i].count > largest)
			largest = room->extents[i].count;
	return largest;
}

uint64_t room_used(const struct room *room)
{
	return room->used;
}
