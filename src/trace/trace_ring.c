/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	PARTS = 16,     /* of a ring: segments at least, and epochs at most */
	TIME_PARTS = 8, /* epochs in the time to keep */
	SEGMENT_BYTES_MAX = 4 << 20,
	ALIGNMENT = 8,
};

struct segment {
	uint64_t offset;
	uint64_t last_ns; /* of what is in it */
};

struct trace_ring {
	struct trace_ring_options options;
	uint64_t segment_bytes, count_max;
	struct segment *segments; /* in the order of their use; behind the current one is the oldest */
	size_t count, capacity, current;
	uint64_t used_bytes; /* of the current one */
	uint64_t epoch_ns;
	uint64_t epoch_bytes;    /* written since the epoch began */
	uint64_t prologue_bytes; /* of them, repeated */
};

struct trace_ring *trace_ring_new(const struct trace_ring_options *options)
{
	struct trace_ring *ring = xcalloc(1, sizeof(*ring));

	ring->options = *options;
	ring->segment_bytes = SEGMENT_BYTES_MAX;
	ring->count_max = SIZE_MAX;
	if (options->size_bytes) {
		if (options->size_bytes / PARTS < SEGMENT_BYTES_MAX)
			ring->segment_bytes = options->size_bytes / PARTS / ALIGNMENT * ALIGNMENT;
		ring->count_max = options->size_bytes / ring->segment_bytes;
	}
	return ring;
}

void trace_ring_free(struct trace_ring *ring)
{
	if (!ring)
		return;
	free(ring->segments);
	free(ring);
}

uint64_t trace_ring_segment_bytes(const struct trace_ring *ring)
{
	return ring->segment_bytes;
}

static size_t oldest_of(const struct trace_ring *ring)
{
	return (ring->current + 1) % ring->count;
}

/* Readers begin up to an epoch before the time to keep. */
static bool is_old(const struct trace_ring *ring, const struct segment *segment, uint64_t time_ns)
{
	uint64_t keep_ns = ring->options.last_ns;

	return keep_ns && time_ns > segment->last_ns && time_ns - segment->last_ns > keep_ns + keep_ns / TIME_PARTS * 2;
}

/* Behind the current one, so that the order stays that of their use. */
static void add_segment(struct trace_ring *ring, uint64_t *file_end)
{
	size_t at = ring->count ? ring->current + 1 : 0;

	ARRAY_GROW(ring->segments, ring->count, ring->capacity, PARTS);
	memmove(&ring->segments[at + 1], &ring->segments[at], (ring->count++ - at) * sizeof(*ring->segments));
	ring->current = at;
	ring->segments[at] = (struct segment){
		.offset = (*file_end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
	};
	*file_end = ring->segments[at].offset + ring->segment_bytes;
}

static void next_segment(struct trace_ring *ring, uint64_t time_ns, uint64_t *file_end, uint64_t *reused)
{
	ring->used_bytes = 0;
	if (ring->count < 2 ||
	    (ring->count < ring->count_max && !is_old(ring, &ring->segments[oldest_of(ring)], time_ns))) {
		add_segment(ring, file_end);
		return;
	}
	ring->current = oldest_of(ring);
	ring->segments[ring->current].last_ns = 0;
	*reused = ring->segments[ring->current].offset;
}

uint64_t trace_ring_take(struct trace_ring *ring, uint64_t size_bytes, uint64_t last_ns, uint64_t *file_end,
			 uint64_t *reused)
{
	struct segment *segment;
	uint64_t at;

	*reused = TRACE_RING_NONE;
	if (size_bytes > ring->segment_bytes)
		return TRACE_RING_NONE;
	if (!ring->count || size_bytes > ring->segment_bytes - ring->used_bytes)
		next_segment(ring, last_ns, file_end, reused);
	segment = &ring->segments[ring->current];
	at = segment->offset + ring->used_bytes;
	ring->used_bytes += size_bytes;
	ring->epoch_bytes += size_bytes;
	if (last_ns > segment->last_ns)
		segment->last_ns = last_ns;
	return at;
}

void trace_ring_trim(struct trace_ring *ring, uint64_t *file_end)
{
	struct segment *segment = ring->count ? &ring->segments[ring->current] : NULL;

	if (!segment || segment->offset + ring->segment_bytes != *file_end)
		return;
	*file_end = segment->offset + ring->used_bytes;
	ring->used_bytes = ring->segment_bytes;
}

/* Repeated events must not crowd out new ones. */
static bool is_large(const struct trace_ring *ring)
{
	return ring->options.size_bytes && ring->epoch_bytes >= ring->options.size_bytes / PARTS &&
	       ring->epoch_bytes >= 3 * ring->prologue_bytes;
}

bool trace_ring_wants_epoch(const struct trace_ring *ring, uint64_t time_ns)
{
	uint64_t keep_ns = ring->options.last_ns;

	return is_large(ring) ||
	       (keep_ns && time_ns > ring->epoch_ns && time_ns - ring->epoch_ns >= keep_ns / TIME_PARTS);
}

void trace_ring_begin_epoch(struct trace_ring *ring, uint64_t time_ns)
{
	ring->epoch_ns = time_ns;
	ring->epoch_bytes = ring->prologue_bytes = 0;
}

void trace_ring_end_prologue(struct trace_ring *ring)
{
	ring->prologue_bytes = ring->epoch_bytes;
}
