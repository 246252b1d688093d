/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings around an address, for what lies in none of them but belongs to one. */
#include <stdlib.h>
#include <string.h>

#include "symbol/space/space_internal.h"

enum { SIDE_MAX = SPACES_NEAR_MAX / 2 };

/* On one side of the address, the nearest first. */
struct side {
	const struct entry *entries[SIDE_MAX];
	size_t count;
};

struct vicinity {
	const struct space *newest; /* as it was at time_ns */
	uint64_t time_ns, address;
	bool (*is_wanted)(void *data, uint32_t module);
	void *data;
	struct side below, above;
};

static uint64_t distance(const struct entry *entry, uint64_t address)
{
	return entry->start > address ? entry->start - address : address - entry->start;
}

/* False when there are enough that are nearer. */
static bool add(struct vicinity *near, struct side *side, const struct entry *entry)
{
	size_t at = side->count;

	if (!near->is_wanted(near->data, entry->module) ||
	    space_find(near->newest, near->time_ns, entry->start) != entry)
		return true;
	while (at && distance(side->entries[at - 1], near->address) > distance(entry, near->address))
		at--;
	if (at == SIDE_MAX)
		return false;
	side->count += side->count < SIDE_MAX;
	memmove(&side->entries[at + 1], &side->entries[at], (side->count - at - 1) * sizeof(*side->entries));
	side->entries[at] = entry;
	return true;
}

static void look_around(struct vicinity *near, const struct space *space)
{
	size_t middle = space_lower_bound(space, near->address + 1);

	for (size_t i = middle; i--;)
		if (!add(near, &near->below, &space->entries[i]))
			break;
	for (size_t i = middle; i < space->count; i++)
		if (!add(near, &near->above, &space->entries[i]))
			break;
}

static int by_lateness(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;

	if (x->from_ns != y->from_ns)
		return x->from_ns > y->from_ns ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

size_t spaces_near(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address,
		   bool (*is_wanted)(void *data, uint32_t module), void *data, struct mapping mappings[SPACES_NEAR_MAX])
{
	struct vicinity near = {
		.newest = space_at(spaces, pid, time_ns),
		.time_ns = time_ns,
		.address = address,
		.is_wanted = is_wanted,
		.data = data,
	};
	const struct entry *entries[SPACES_NEAR_MAX];
	size_t count;

	for (const struct space *space = near.newest; space; space = space->base)
		look_around(&near, space);
	count = near.below.count + near.above.count;
	memcpy(entries, near.below.entries, sizeof(near.below.entries));
	memcpy(entries + near.below.count, near.above.entries, sizeof(near.above.entries));
	qsort(entries, count, sizeof(*entries), by_lateness);
	for (size_t i = 0; i < count; i++)
		mappings[i] = (struct mapping){
			entries[i]->start,
			entries[i]->end,
			entries[i]->file_offset,
			entries[i]->module,
		};
	return count;
}
