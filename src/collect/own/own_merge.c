/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/own_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/memory.h"
#include "session/session.h"

/* An event in a run's buffer. */
struct kept {
	uint32_t size_bytes;
	uint32_t unused;
	uint64_t time_ns; /* the first word of the event that follows */
};

struct own_run {
	char *bytes;
	size_t begin, end, capacity;
	bool is_ended;
};

struct own_merge {
	struct session *session;
	unsigned int stream;
	struct own_run **runs;   /* in the order in which they began */
	struct heap_entry *heap; /* of the runs that have an event, by the time of the first one */
	size_t run_count, run_capacity, heap_count, heap_capacity;
	uint64_t bytes, count;
};

struct own_merge *own_merge_new(struct session *session, unsigned int stream)
{
	struct own_merge *merge = xcalloc(1, sizeof(*merge));

	merge->session = session;
	merge->stream = stream;
	return merge;
}

static void run_free(struct own_run *run)
{
	free(run->bytes);
	free(run);
}

void own_merge_free(struct own_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->run_count; i++)
		run_free(merge->runs[i]);
	free(merge->runs);
	free(merge->heap);
	free(merge);
}

struct own_run *own_merge_begin(struct own_merge *merge)
{
	struct own_run *run = xcalloc(1, sizeof(*run));

	ARRAY_GROW(merge->runs, merge->run_count, merge->run_capacity, 16);
	merge->runs[merge->run_count++] = run;
	return run;
}

void own_merge_end(struct own_run *run)
{
	run->is_ended = true;
}

/* --- Runs ------------------------------------------------------------------------------------ */

static size_t entry_bytes(size_t size_bytes)
{
	return (offsetof(struct kept, time_ns) + size_bytes + 7) & ~(size_t)7;
}

static struct kept *first_of(const struct own_run *run)
{
	return (struct kept *)(run->bytes + run->begin);
}

static void run_reserve(struct own_run *run, size_t bytes)
{
	size_t used = run->end - run->begin;

	if (run->end + bytes <= run->capacity)
		return;
	/* What has gone makes place for what comes, if it is half or more. */
	if (run->begin >= used + bytes) {
		memmove(run->bytes, run->bytes + run->begin, used);
		run->begin = 0;
		run->end = used;
		return;
	}
	run->capacity = 2 * (run->end + bytes);
	run->bytes = xrealloc(run->bytes, run->capacity, 1);
}

void own_merge_add(struct own_merge *merge, struct own_run *run, const void *event, size_t size_bytes)
{
	size_t bytes = entry_bytes(size_bytes);
	struct kept *kept;

	run_reserve(run, bytes);
	kept = (struct kept *)(run->bytes + run->end);
	kept->size_bytes = size_bytes;
	memcpy(&kept->time_ns, event, size_bytes);
	run->end += bytes;
	merge->bytes += bytes;
	merge->count++;
}

static void take_first(struct own_merge *merge, struct own_run *run)
{
	size_t bytes = entry_bytes(first_of(run)->size_bytes);

	run->begin += bytes;
	merge->bytes -= bytes;
	merge->count--;
	if (run->begin < run->end)
		return;
	free(run->bytes);
	run->bytes = NULL;
	run->begin = run->end = run->capacity = 0;
}

/* Of runs that have ended and are empty nothing is left. */
static void make_heap(struct own_merge *merge)
{
	size_t kept = 0;

	merge->heap_count = 0;
	for (size_t i = 0; i < merge->run_count; i++) {
		struct own_run *run = merge->runs[i];

		if (run->begin == run->end && run->is_ended) {
			run_free(run);
			continue;
		}
		merge->runs[kept] = run;
		if (run->begin < run->end) {
			ARRAY_GROW(merge->heap, merge->heap_count, merge->heap_capacity, 16);
			merge->heap[merge->heap_count++] = (struct heap_entry){ first_of(run)->time_ns, kept };
		}
		kept++;
	}
	merge->run_count = kept;
	heap_make(merge->heap, merge->heap_count);
}

uint64_t own_merge_push(struct own_merge *merge, uint64_t until_ns)
{
	make_heap(merge);
	while (merge->heap_count) {
		struct heap_entry *top = &merge->heap[0];
		struct own_run *run = merge->runs[top->number];
		const struct kept *kept = first_of(run);

		if (kept->time_ns > until_ns)
			break;
		if (session_push(merge->session, merge->stream, &kept->time_ns, kept->size_bytes) == -ENOSPC)
			return kept->time_ns;
		take_first(merge, run);
		if (run->begin < run->end)
			top->time_ns = first_of(run)->time_ns;
		else
			*top = merge->heap[--merge->heap_count];
		if (merge->heap_count)
			heap_sift_down(merge->heap, merge->heap_count, 0);
	}
	return until_ns;
}

uint64_t own_merge_bytes(const struct own_merge *merge)
{
	return merge->bytes;
}

uint64_t own_merge_count(const struct own_merge *merge)
{
	return merge->count;
}
