/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the changes of a thread in several blocks of the history at once: what thread_log.h has written. The file is borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byte_cursor.h"
#include "states/share_cells.h"

struct thread_windows;
struct trace_place;
struct trace_reader;

struct thread_windows *thread_windows_new(struct trace_reader *file);
void thread_windows_free(struct thread_windows *kept);

/* A chunk of the file, TRACE_CHUNK_STATE_THREADS, which is about these blocks. Chunks come in their order in the file. */
void thread_windows_add(struct thread_windows *kept, const struct trace_place *place, size_t chunk, size_t first_block,
			size_t end_block);

/* Blocks whose changes are kept thread by thread. */
struct thread_window {
	size_t first_block, end_block;
	uint64_t first_ns, last_ns;
	size_t first_group, group_count; /* chunks */
	bool is_damaged;                 /* as somebody who asked has found */
};

/* The window that has a block; NULL: none has. Valid until one is added. */
const struct thread_window *thread_windows_find(const struct thread_windows *kept, size_t block);

/* In how many chunks of the window threads are: [count], by their numbers. */
size_t thread_windows_groups(const struct thread_windows *kept, const struct thread_window *window,
			     const uint32_t *threads, size_t count);

/* What a thread does when a window begins, and what comes then. */
struct thread_changes {
	uint8_t share; /* as state_share() has it, or SHARE_ABSENT */
	uint64_t since_ns;
	uint64_t at_ns, last_ns; /* the time of the last change that was read; none is later than last_ns */
	struct byte_cursor cursor;
};

/* The next change: changes->at_ns and ->share. False: there are no more, or the rest makes no sense. */
static inline bool thread_changes_next(struct thread_changes *changes)
{
	uint64_t distance_ns, share;

	if (!byte_cursor_left(&changes->cursor))
		return false;
	distance_ns = byte_cursor_uleb(&changes->cursor);
	share = byte_cursor_uleb(&changes->cursor);
	if (changes->cursor.is_bad || share > SHARE_ABSENT || distance_ns > changes->last_ns - changes->at_ns)
		return false;
	changes->at_ns += distance_ns;
	changes->share = share;
	return true;
}

/* which: the place of the thread among those that are asked for. */
typedef void thread_changes_fn(void *data, size_t which, struct thread_changes *changes);

/*
 * Tells of the threads of a window that are among those asked for: [count], by their numbers. What is damaged is missing, and the window is not
 * found any more. False: nothing was told, for what comes first is damaged.
 */
bool thread_windows_each(struct thread_windows *kept, const struct thread_window *window, const uint32_t *threads,
			 size_t count, thread_changes_fn *on_thread, void *data);
