/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of a trace go that is being written, each with its checksums: a file, and at its end where each
 * of them is; or a sink.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct out_file;
struct trace_output;
struct trace_ring;
struct trace_ring_options;
struct trace_sink;

/*
 * Begins a trace in the file, which becomes the output's; ring is NULL when what is new goes to its end.
 * -ESPIPE: a ring needs positions, and the file has none; or another negative errno.
 */
int trace_output_open(struct out_file *file, const struct trace_ring_options *ring, struct trace_output **out);

/* Chunks go to a sink, which is borrowed. 0 or a negative errno. */
int trace_output_open_sink(const struct trace_sink *sink, struct trace_output **out);

/* Puts the file in place. 0, or the first error. */
int trace_output_place(struct trace_output *output);

/*
 * Writes a chunk whose kind, flags, times and count are given; of threads, which its events are about,
 * NULL is none.
 */
void trace_output_put(struct trace_output *output, struct trace_chunk *chunk, const uint64_t *threads,
		      const void *content, size_t size_bytes);

/* NULL: it has none. */
struct trace_ring *trace_output_ring(const struct trace_output *output);

uint64_t trace_output_chunks(const struct trace_output *output);
uint64_t trace_output_bytes(const struct trace_output *output);
int trace_output_error(const struct trace_output *output);

/* What is written, to be read by who holds the output; -1: a sink has it. */
int trace_output_fd(const struct trace_output *output);

/* Ends the file with its index, puts it in place unless that failed, and frees the output. 0, or the first error. */
int trace_output_close(struct trace_output *output);

/* Frees it. A file that is not in place is gone. */
void trace_output_discard(struct trace_output *output);
