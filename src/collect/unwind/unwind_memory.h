/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the kernel side unwinds by (unwind_format.h), in units. Chunks are maps of one size, made when they are
 * needed and mapped here while they are written or read, so that a table is written like memory. What the kernel side may be reading is never
 * written again at once: it rests first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "unwind_format.h"

struct chunk_allocator;

struct unwind_memory {
	int chunks_fd;                       /* the map of chunks */
	int fds[UNWIND_CHUNKS_MAX];          /* of chunks */
	uint64_t *chunks[UNWIND_CHUNKS_MAX]; /* NULL: not mapped */
	uint64_t used_ns;                    /* when one was needed last */
	uint32_t chunk_count, chunk_max;
	struct chunk_allocator *allocator;
};

/* bytes_max: 0: as much as there can be. rest_ns: after which what was given back is used again. */
void unwind_memory_init(struct unwind_memory *memory, int chunks_fd, uint64_t bytes_max, uint64_t rest_ns);
void unwind_memory_fini(struct unwind_memory *memory);

/* Tries to add chunks, which takes 10 ms and more; false: there are as many as there may be. */
bool unwind_memory_grow(struct unwind_memory *memory);

/* Units in one chunk, of those that there are; false: there is no space. */
bool unwind_memory_take(struct unwind_memory *memory, uint32_t count, uint32_t *place);
void unwind_memory_give(struct unwind_memory *memory, uint32_t place, uint32_t count);

/* How many units can be taken together; how many are taken. */
uint32_t unwind_memory_largest(const struct unwind_memory *memory);
uint64_t unwind_memory_used(const struct unwind_memory *memory);

/* Maps all chunks that there is memory for. */
void unwind_memory_map(struct unwind_memory *memory);

/* Unmaps all chunks; the second one only if none was needed for a while. */
void unwind_memory_release(struct unwind_memory *memory);
void unwind_memory_release_if_idle(struct unwind_memory *memory);

/* Of what was taken or mapped since the last release, and until the next one. */
uint64_t *unwind_memory_units(const struct unwind_memory *memory, uint32_t place);
