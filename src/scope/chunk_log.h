/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks of events that clients have yet to get: compressed once, for all of them. It has a bound; what is oldest
 * makes way for what is new. Chunks are numbered from 0 on, in the order in which they came.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct chunk_log;

struct logged_chunk {
	struct trace_chunk head; /* to be sealed */
	uint64_t threads[TRACE_THREAD_WORDS];
	void *stored;
	uint64_t events_before; /* in all chunks before it */
};

struct chunk_log *chunk_log_new(size_t bytes_max);
void chunk_log_free(struct chunk_log *log);

/* Copies a chunk; threads: NULL is none. */
void chunk_log_add(struct chunk_log *log, const struct trace_chunk *chunk, const uint64_t *threads, const void *stored);

/* Forgets the chunks before this number. */
void chunk_log_trim(struct chunk_log *log, uint64_t number);

/* The number of the oldest chunk that is there, and of the next one to come. */
uint64_t chunk_log_first(const struct chunk_log *log);
uint64_t chunk_log_end(const struct chunk_log *log);

/* One of those that are there; valid until the log changes. */
const struct logged_chunk *chunk_log_get(const struct chunk_log *log, uint64_t number);

/* Of all chunks that came. */
uint64_t chunk_log_events(const struct chunk_log *log);
