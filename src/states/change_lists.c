/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/change_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"

enum {
	LISTED_MAX = 1 << 24,         /* blocks in unpacked lists, of all threads */
	PACKED_BYTES_MAX = 256 << 20, /* of all lists */
};

struct changes {
	uint32_t thread, count;
	size_t at;         /* of the distances between them, among the packed ones */
	uint32_t *blocks;  /* [count]; NULL: not unpacked */
	uint32_t capacity; /* of blocks, if it grows */
};

static void add_changes(struct change_lists *lists, uint32_t thread, uint32_t count, size_t at)
{
	ARRAY_GROW(lists->changes, lists->count, lists->capacity, 256);
	lists->changes[lists->count++] = (struct changes){ thread, count, at, NULL, 0 };
}

int change_lists_take(struct change_lists *lists, const void *bytes, size_t size_bytes)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);

	if (!size_bytes)
		return 0;
	if (size_bytes > PACKED_BYTES_MAX - lists->packed_bytes)
		return -EBADMSG;
	lists->packed = xrealloc(lists->packed, lists->packed_bytes + size_bytes, 1);
	memcpy(lists->packed + lists->packed_bytes, bytes, size_bytes);
	while (byte_cursor_left(&cursor)) {
		uint32_t thread = byte_cursor_uleb(&cursor), count = byte_cursor_uleb(&cursor);

		add_changes(lists, thread, count, lists->packed_bytes + (cursor.at - (const uint8_t *)bytes));
		for (uint32_t i = 0; i < count && !cursor.is_bad; i++)
			byte_cursor_uleb(&cursor);
	}
	lists->packed_bytes += size_bytes;
	return cursor.is_bad ? -EBADMSG : 0;
}

/* One that is there already gets longer; most new ones have the highest number. */
static struct changes *get_grown(struct change_lists *lists, uint32_t thread)
{
	size_t at = BOUND_BACK(0, lists->count, i, lists->changes[i].thread < thread);

	if (at < lists->count && lists->changes[at].thread == thread)
		return &lists->changes[at];
	add_changes(lists, thread, 0, 0);
	memmove(&lists->changes[at + 1], &lists->changes[at], (lists->count - 1 - at) * sizeof(*lists->changes));
	lists->changes[at] = (struct changes){ .thread = thread };
	return &lists->changes[at];
}

int change_lists_grow(struct change_lists *lists, const void *bytes, size_t size_bytes)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);

	while (byte_cursor_left(&cursor)) {
		struct changes *changes = get_grown(lists, byte_cursor_uleb(&cursor));
		uint32_t count = byte_cursor_uleb(&cursor), block = 0;

		for (uint32_t i = 0; i < count && !cursor.is_bad; i++) {
			block += byte_cursor_uleb(&cursor);
			ARRAY_GROW(changes->blocks, changes->count, changes->capacity, 4);
			changes->blocks[changes->count++] = block;
		}
	}
	return cursor.is_bad ? -EBADMSG : 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct changes *x = a, *y = b;

	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->at > y->at) - (x->at < y->at);
}

void change_lists_sort(struct change_lists *lists)
{
	if (lists->count)
		qsort(lists->changes, lists->count, sizeof(*lists->changes), compare_changes);
}

static void forget_blocks(struct change_lists *lists)
{
	for (size_t i = 0; i < lists->count; i++) {
		free(lists->changes[i].blocks);
		lists->changes[i].blocks = NULL;
	}
	lists->listed = 0;
}

void change_lists_fini(struct change_lists *lists)
{
	forget_blocks(lists);
	free(lists->changes);
	free(lists->packed);
}

static void unpack(struct change_lists *lists, struct changes *changes)
{
	struct byte_cursor cursor = byte_cursor_new(lists->packed + changes->at, lists->packed_bytes - changes->at);
	uint32_t block = 0;

	if (lists->listed > LISTED_MAX)
		forget_blocks(lists);
	changes->blocks = xcalloc(changes->count + 1, sizeof(*changes->blocks));
	for (uint32_t i = 0; i < changes->count; i++)
		changes->blocks[i] = block += byte_cursor_uleb(&cursor);
	lists->listed += changes->count;
}

static size_t first_above(const struct changes *changes, size_t after)
{
	size_t low = BOUND(0, changes->count, i, changes->blocks[i] <= after);

	return low < changes->count ? changes->blocks[low] : SIZE_MAX;
}

size_t change_lists_next(struct change_lists *lists, uint32_t thread, size_t after, size_t block_count)
{
	size_t first = BOUND(0, lists->count, i, lists->changes[i].thread < thread);

	for (size_t i = first; i < lists->count && lists->changes[i].thread == thread; i++) {
		size_t block;

		if (!lists->changes[i].blocks)
			unpack(lists, &lists->changes[i]);
		block = first_above(&lists->changes[i], after);
		if (block < block_count)
			return block;
	}
	return SIZE_MAX;
}

void change_lists_each_thread(const struct change_lists *lists, void (*on_thread)(void *data, uint32_t thread),
			      void *data)
{
	for (size_t i = 0; i < lists->count; i++)
		if (!i || lists->changes[i - 1].thread != lists->changes[i].thread)
			on_thread(data, lists->changes[i].thread);
}
