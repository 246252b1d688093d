/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How address spaces are kept: see space.c. */
#pragma once

#include "symbol/space/space.h"

/* Sorted by start; of several that hold an address, the one with the latest time counts. */
struct entry {
	uint64_t start, end, file_offset;
	uint64_t from_ns;
	uint64_t reach; /* highest end of this entry and all before it */
	uint32_t module;
	uint32_t order; /* of arrival, for equal times */
};

struct space {
	struct space *older; /* of the same process */
	struct space *base;  /* seen as it was at base_ns; its user_count counts this space */
	uint64_t base_ns;
	uint64_t from_ns;
	struct entry *entries;
	uint32_t count, capacity;
	uint32_t retry_count; /* refusals until it is worth compacting again */
	uint32_t number;
	uint32_t user_count; /* spaces whose base this is; it outlives them */
	uint16_t depth;      /* bases below it */
	bool is_forgotten;   /* in no process's list, kept for its users */
};

/* The space at a time; what is asked about a time before the first one gets the first. */
struct space *space_at(const struct spaces *spaces, uint32_t pid, uint64_t time_ns);

/* Index of the first entry that starts at or after an address. */
size_t space_lower_bound(const struct space *space, uint64_t address);

/* What holds an address at a time, in the space or in those below it. NULL: nothing. */
const struct entry *space_find(const struct space *space, uint64_t time_ns, uint64_t address);
