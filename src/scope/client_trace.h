/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace that one client gets: its own header, its own numbers of chunks and its own index, around contents that
 * all clients share. What it makes waits here as bytes until somebody takes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "trace/trace_places.h"

struct client_trace {
	uint32_t trace, number; /* of the next chunk */
	uint64_t file_bytes;    /* of the trace, as far as it was made */
	struct trace_places places;
	struct text bytes; /* made, and from taken on not taken yet */
	size_t taken;
};

/* A trace begins with its header. */
void client_trace_begin(struct client_trace *trace);
void client_trace_fini(struct client_trace *trace);

/* Puts a chunk whose content is packed, as one of this kind and flags. threads: NULL is none. */
void client_trace_put(struct client_trace *trace, const struct trace_chunk *chunk, enum trace_chunk_kind kind,
		      uint32_t flags, const uint64_t *threads, const void *stored);

/* Puts the index and the mark of the end. */
void client_trace_end(struct client_trace *trace);

/* What is to be sent next. NULL: there is nothing. Valid until the next call. */
const void *client_trace_bytes(const struct client_trace *trace, size_t *size_bytes);

/* So many of these bytes were sent. */
void client_trace_take(struct client_trace *trace, size_t size_bytes);
