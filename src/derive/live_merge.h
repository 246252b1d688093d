/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of one host are merged while they are written: sources come and go. Events are merged when they are so old that what
 * happened before them has come from all sources; who says how old that is waits so long for each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct live_merge;
struct trace_writer;

/* Into a trace that is begun; borrowed. */
struct live_merge *live_merge_new(struct trace_writer *writer);
void live_merge_free(struct live_merge *merge);

/*
 * A trace of which the beginning is there, up to what it says first; path and name stay valid. Its number, from 0 on; -EAGAIN: there
 * is less yet; or another negative errno, after a message.
 */
int live_merge_add(struct live_merge *merge, const char *path, const char *name);

/* More of it may be there. Returns how many bytes at its beginning are not needed any more. */
uint64_t live_merge_grow(struct live_merge *merge, int source);

/* All of it is there. */
void live_merge_end(struct live_merge *merge, int source);

/*
 * Writes the events up to until_ns; now_ns: both of CLOCK_MONOTONIC. The first of them says what is traced: by those that were added
 * before it.
 */
void live_merge_step(struct live_merge *merge, uint64_t until_ns, uint64_t now_ns);

/*
 * No more comes of any source: writes the rest, names, and how it ended. Sources do not end together: what threads do after end_ns is
 * left out, or all that was done if nothing was before. now_ns: of CLOCK_MONOTONIC.
 */
void live_merge_finish(struct live_merge *merge, uint64_t end_ns, uint64_t now_ns);
