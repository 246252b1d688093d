/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/thread_windows.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "trace/trace_reader.h"

struct thread_windows {
	struct trace_reader *file;
	struct thread_window *windows; /* in the order of their blocks, which they share with no other one */
	size_t window_count, window_capacity;
	struct group {
		uint32_t first_thread;
		size_t chunk; /* of the file */
	} * groups;           /* by window, then by thread */
	size_t group_count, group_capacity;
};

struct thread_windows *thread_windows_new(struct trace_reader *file)
{
	struct thread_windows *kept = xcalloc(1, sizeof(*kept));

	kept->file = file;
	return kept;
}

void thread_windows_free(struct thread_windows *kept)
{
	if (!kept)
		return;
	free(kept->windows);
	free(kept->groups);
	free(kept);
}

/* The window that the chunk belongs to; NULL: it makes no sense. */
static struct thread_window *get_window(struct thread_windows *kept, const struct trace_place *place,
					size_t first_block, size_t end_block)
{
	struct thread_window *last = kept->window_count ? &kept->windows[kept->window_count - 1] : NULL;

	if (first_block >= end_block)
		return NULL;
	if (last && last->end_block == end_block)
		return last->first_block == first_block && last->first_ns == place->first_ns ? last : NULL;
	if (last && last->end_block > first_block)
		return NULL;
	ARRAY_GROW(kept->windows, kept->window_count, kept->window_capacity, 16);
	last = &kept->windows[kept->window_count++];
	*last = (struct thread_window){
		.first_block = first_block,
		.end_block = end_block,
		.first_ns = place->first_ns,
		.last_ns = place->last_ns,
		.first_group = kept->group_count,
	};
	return last;
}

void thread_windows_add(struct thread_windows *kept, const struct trace_place *place, size_t chunk, size_t first_block,
			size_t end_block)
{
	struct thread_window *window = get_window(kept, place, first_block, end_block);

	if (!window)
		return;
	ARRAY_GROW(kept->groups, kept->group_count, kept->group_capacity, 64);
	kept->groups[kept->group_count++] = (struct group){ place->count, chunk };
	window->group_count++;
}

const struct thread_window *thread_windows_find(const struct thread_windows *kept, size_t block)
{
	size_t at = BOUND(0, kept->window_count, i, kept->windows[i].end_block <= block);
	const struct thread_window *window = at < kept->window_count ? &kept->windows[at] : NULL;

	return window && window->first_block <= block && !window->is_damaged ? window : NULL;
}

/* --- Threads of a window -------------------------------------------------------------------- */

/* Those in [first, end) of the threads that are asked for may be in the group. */
struct asked {
	size_t first, end;
};

static struct asked asked_of(const struct thread_windows *kept, const struct thread_window *window, size_t group,
			     const uint32_t *threads, size_t count)
{
	const struct group *its = &kept->groups[window->first_group + group];
	struct asked asked = { .first = BOUND(0, count, i, threads[i] < its->first_thread), .end = count };

	if (group + 1 < window->group_count)
		asked.end = BOUND(asked.first, count, i, threads[i] < its[1].first_thread);
	return asked;
}

size_t thread_windows_groups(const struct thread_windows *kept, const struct thread_window *window,
			     const uint32_t *threads, size_t count)
{
	size_t groups = 0;

	for (size_t group = 0; group < window->group_count; group++) {
		struct asked asked = asked_of(kept, window, group, threads, count);

		groups += asked.first < asked.end;
	}
	return groups;
}

struct telling {
	const struct thread_window *window;
	const uint32_t *threads;
	struct asked asked;
	thread_changes_fn *on_thread;
	void *data;
	bool has_told;
};

/* The next thread of a group, whose number is behind *thread. False: it makes no sense. */
static bool tell_thread(struct telling *telling, struct byte_cursor *cursor, uint64_t *thread)
{
	const struct thread_window *window = telling->window;
	struct asked *asked = &telling->asked;
	uint64_t distance = byte_cursor_uleb(cursor), share = byte_cursor_uleb(cursor);
	uint64_t age_ns = byte_cursor_uleb(cursor), size_bytes = byte_cursor_uleb(cursor);
	struct thread_changes changes = { .share = share, .last_ns = window->last_ns, .at_ns = window->first_ns };

	if (cursor->is_bad || share > SHARE_ABSENT || age_ns > window->first_ns ||
	    size_bytes > byte_cursor_left(cursor) || distance > UINT32_MAX - *thread)
		return false;
	*thread += distance;
	changes.since_ns = window->first_ns - age_ns;
	changes.cursor = byte_cursor_new(cursor->at, size_bytes);
	byte_cursor_skip(cursor, size_bytes);
	while (asked->first < asked->end && telling->threads[asked->first] < *thread)
		asked->first++;
	if (asked->first == asked->end || telling->threads[asked->first] != *thread)
		return true;
	telling->has_told = true;
	telling->on_thread(telling->data, asked->first++, &changes);
	return true;
}

static bool tell_group(struct thread_windows *kept, size_t group, struct telling *telling)
{
	const void *content;
	size_t size_bytes;
	uint64_t thread = 0;
	struct byte_cursor cursor;

	if (trace_reader_content(kept->file, kept->groups[group].chunk, &content, &size_bytes))
		return false;
	cursor = byte_cursor_new(content, size_bytes);
	if (byte_cursor_uleb(&cursor) != telling->window->first_block ||
	    byte_cursor_uleb(&cursor) != telling->window->end_block - telling->window->first_block)
		return false;
	while (byte_cursor_left(&cursor) && telling->asked.first < telling->asked.end)
		if (!tell_thread(telling, &cursor, &thread))
			return false;
	return true;
}

bool thread_windows_each(struct thread_windows *kept, const struct thread_window *window, const uint32_t *threads,
			 size_t count, thread_changes_fn *on_thread, void *data)
{
	struct telling telling = { .window = window, .threads = threads, .on_thread = on_thread, .data = data };

	for (size_t group = 0; group < window->group_count; group++) {
		telling.asked = asked_of(kept, window, group, threads, count);
		if (telling.asked.first == telling.asked.end || tell_group(kept, window->first_group + group, &telling))
			continue;
		kept->windows[window - kept->windows].is_damaged = true;
		if (!telling.has_told)
			return false;
	}
	return true;
}
