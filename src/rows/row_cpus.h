/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPU events happened of a chunk that is read alone: what events of the chunk before them say, and what
 * the history of states has of the time before the chunk.
 */
#pragma once

#include <stdint.h>

struct ev_header;
struct named_event;
struct row_cpus;
struct states;

/* states: borrowed; NULL: nothing is known of the time before. */
struct row_cpus *row_cpus_new(struct states *states);
void row_cpus_free(struct row_cpus *cpus);

/* The events that follow are of another chunk, which begins at first_ns. */
void row_cpus_begin_chunk(struct row_cpus *cpus, uint64_t first_ns);

/* Takes an event of it in. */
void row_cpus_follow(struct row_cpus *cpus, const struct ev_header *known);

/* Of the event that was taken in last. -1: unknown. */
int32_t row_cpus_find(struct row_cpus *cpus, const struct named_event *event);
