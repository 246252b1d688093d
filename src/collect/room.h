/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which units of the kernel side's chunks are free (unwind_format.h). It keeps the account only; the
 * memory is the unwinder's. What is given back rests: the kernel side may still be reading it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct room;

/* Time that given units rest, ns. */
struct room *room_new(uint64_t rest_ns);
void room_free(struct room *room);

/* One more chunk of UNWIND_CHUNK_UNITS free units, behind those there are. */
void room_add_chunk(struct room *room);

/* Units that lie together in one chunk, the first place that has so many. False: none has. */
bool room_take(struct room *room, uint32_t count, uint64_t now_ns, uint32_t *place);

/* Gives units back that were taken together. */
void room_give(struct room *room, uint32_t place, uint32_t count, uint64_t now_ns);

/* How many units can be taken together. */
uint32_t room_largest(struct room *room, uint64_t now_ns);

/* How many units are taken; those that rest are not. */
uint64_t room_used(const struct room *room);
