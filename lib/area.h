/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process's area (pinchtrace_format.h): made at the start, and again by a forked child at its first event. Owns: the
 * area, its file, and what a process forgets when it is forked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pinchtrace_format.h"

/* What madvise() and mmap() take as a whole on every kernel of the architecture. */
#ifdef __x86_64__
#define PINCHTRACE_PAGE_BYTES 4096
#else
#define PINCHTRACE_PAGE_BYTES 65536
#endif

/* The process's own view, which nobody else can write. Valid while pinchtrace_own.generation is not 0. */
struct pinchtrace_area {
	unsigned char *base; /* NULL: there is no area, and nothing is recorded */
	struct pinchtrace_header *header;
	struct pinchtrace_control *control;
	char *schema;
	uint64_t schema_bytes_max, rings_offset, ring_bytes, bytes;
	uint64_t slot_mask;
	uint64_t flush_slots; /* a ring with so many that were not flushed before is; 0: never */
	int64_t nested_max; /* slots that signal handlers may write into an unfinished event's ring, but for one event */
	uint32_t ring_count_max;
};

extern struct pinchtrace_area pinchtrace_area;

/* 0 in a child that was just forked, by whatever means. Each word is changed by one thread at a time. */
struct pinchtrace_own {
	uint64_t generation; /* of the area; another one in each process of a line of forks */
	uint32_t is_opening;
	uint32_t is_registering;
	uint32_t is_flushing;
	uint32_t is_taking_pair;
	uint32_t is_carrying_out;  /* a request of others */
	uint32_t has_no_memory;    /* for further rings */
	uint32_t has_failed_flush; /* by itself: not again */
};

union pinchtrace_own_page {
	struct pinchtrace_own own;
	char bytes[PINCHTRACE_PAGE_BYTES];
};

extern union pinchtrace_own_page pinchtrace_own_page;

#define pinchtrace_own pinchtrace_own_page.own

/* At the program's start, before the first event. */
void pinchtrace_area_start(void);

/* Makes the area if this process has none of its own yet. Whether there is one. Async-signal-safe; leaves errno. */
bool pinchtrace_area_ensure(void);

/* At a normal end: the file goes, unless it is kept. */
void pinchtrace_area_end(void);

/* Gives a part of the area its memory: without it, a full file system ends the program at a write. 0 or a negative errno. */
int pinchtrace_area_populate(const void *begin, size_t size_bytes);

/* Updates the header's last pair. */
void pinchtrace_area_take_pair(void);

static inline struct pinchtrace_ring *pinchtrace_area_ring(uint32_t number)
{
	return (struct pinchtrace_ring *)(pinchtrace_area.base + pinchtrace_area.rings_offset +
					  number * pinchtrace_area.ring_bytes);
}
