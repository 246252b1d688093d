/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The room of a flight recorder: segments of its file, written one after the other. When the file may not
 * grow, or needs not, the oldest segment is written again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace_ring;

struct trace_ring_options {
	uint64_t size_bytes; /* of all segments; 0: as many as it takes */
	uint64_t last_ns;    /* what is this old may be needed; 0: all that there is space for */
};

static inline bool trace_ring_is_asked(const struct trace_ring_options *options)
{
	return options->size_bytes || options->last_ns;
}

struct trace_ring *trace_ring_new(const struct trace_ring_options *options);
void trace_ring_free(struct trace_ring *ring);

uint64_t trace_ring_segment_bytes(const struct trace_ring *ring);

#define TRACE_RING_NONE UINT64_MAX

/*
 * Where a chunk goes whose events end at last_ns; TRACE_RING_NONE: no segment is large enough. *file_end
 * moves when the file grows; *reused is the segment that it took over, TRACE_RING_NONE if none.
 */
uint64_t trace_ring_take(struct trace_ring *ring, uint64_t size_bytes, uint64_t last_ns, uint64_t *file_end,
			 uint64_t *reused);

/* The file goes on behind what is used, when that is the segment at its end. */
void trace_ring_trim(struct trace_ring *ring, uint64_t *file_end);

/* Whether it is time to tell again what a reader must know who begins here. */
bool trace_ring_wants_epoch(const struct trace_ring *ring, uint64_t time_ns);

/* All that was taken since then tells it again. */
void trace_ring_begin_epoch(struct trace_ring *ring, uint64_t time_ns);
void trace_ring_end_prologue(struct trace_ring *ring);
