/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which units of the kernel side's chunks are free (unwind_format.h). It keeps the account only; the
 * memory is the unwinder's. What is given back rests: the kernel side may still be reading it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct chunk_allocator;

/* Time that given units rest, ns. */
struct chunk_allocator *chunk_allocator_new(uint64_t rest_ns);
void chunk_allocator_free(struct chunk_allocator *allocator);

/* One more chunk of UNWIND_CHUNK_UNITS free units, after those there are. */
void chunk_allocator_add_chunk(struct chunk_allocator *allocator);

/* Units that lie together in one chunk, the first place that has so many. False: none has. */
bool chunk_allocator_take(struct chunk_allocator *allocator, uint32_t count, uint64_t now_ns, uint32_t *place);

/* Gives units back that were taken together. */
void chunk_allocator_give(struct chunk_allocator *allocator, uint32_t place, uint32_t count, uint64_t now_ns);

/* How many units can be taken together. */
uint32_t chunk_allocator_largest(struct chunk_allocator *allocator, uint64_t now_ns);

/* How many units are taken; those that rest are not. */
uint64_t chunk_allocator_used(const struct chunk_allocator *allocator);
