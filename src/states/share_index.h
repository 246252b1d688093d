/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pyramid of a history's shares: how much of each cell of time a thread, or a CPU, spent how. Reads it as it is asked, and keeps
 * some of it; the file is borrowed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "states/share_window.h"
#include "trace/trace_format.h"

struct late_causes;
struct share_index;
struct trace_reader;

/* kind: of the chunks. late: borrowed; NULL: there are none. */
struct share_index *share_index_new(struct trace_reader *file, enum trace_chunk_kind kind,
				    const struct late_causes *late);

/* The file has grown: takes what came since. */
void share_index_grow(struct share_index *index);
void share_index_free(struct share_index *index);

/* Whether the window in which a cell of a level is was kept, or follows from two of the level below. */
bool share_index_has(struct share_index *index, unsigned int level, uint64_t cell);

/* Of cells [from, to) of one window, which the index has: all that the thread did in them. */
void share_index_each(struct share_index *index, unsigned int level, uint64_t from, uint64_t to, uint32_t thread,
		      share_part_fn *on_part, void *data);
