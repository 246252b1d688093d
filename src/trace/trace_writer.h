/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace: chunk by chunk after what is there, or in place of what is oldest, so that whatever
 * ends the writer, all chunks before can be read. The first error stays; what comes after it is dropped.
 *
 * Owns: the trace file: its format, writing and reading.
 * Used by: own, collect/own, states, options, engine, query, lanes, rows, export, derive, show, scope, live, outside, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "trace/trace_format.h"

struct out_file;
struct trace_ring_options;
struct trace_sink;
struct trace_writer;

/*
 * Begins a trace in a file that is opened, and becomes the writer's. It is in place when trace_writer_place()
 * or trace_writer_close() says so. A ring, unless it is not asked for or NULL: the trace does not grow without
 * end: what is oldest makes way for what is new, and a reader begins with what was repeated of it; -ESPIPE:
 * the file has no positions for that. Or another negative errno. Nothing is said.
 */
int trace_writer_begin(struct out_file *file, const struct trace_ring_options *ring, struct trace_writer **out);

/* Begins a trace whose chunks go to a sink, which is borrowed. 0 or a negative errno. */
int trace_writer_begin_sink(const struct trace_sink *sink, struct trace_writer **out);

/*
 * Opens the file and begins a trace, in place of what the file held. -EBUSY: another one is being written
 * there.
 */
int trace_writer_open(const char *path, struct trace_writer **out);
int trace_writer_open_ring(const char *path, const struct trace_ring_options *ring, struct trace_writer **out);

/* Puts the file in place of what is there; more may be written. 0, or the first error. */
int trace_writer_place(struct trace_writer *writer);

/* What is written, to be read by who holds the writer; -1: a sink has it. */
int trace_writer_fd(const struct trace_writer *writer);

/* Whether it is time for that: never but in a ring. */
bool trace_writer_wants_epoch(const struct trace_writer *writer);

/* What is repeated between these two is what a reader must know who begins there. */
void trace_writer_begin_epoch(struct trace_writer *writer);
void trace_writer_end_prologue(struct trace_writer *writer);

/*
 * Gives a well-formed event again: to a reader who begins with this epoch, before the next event that is
 * added or somewhat earlier. Others skip it. There must be an epoch.
 */
void trace_writer_repeat(struct trace_writer *writer, const struct ev_header *header);

/* Adds a well-formed event; they come in time order, except for those that the session calls late. */
void trace_writer_event(struct trace_writer *writer, const struct ev_header *header);

/* What a chunk without events is about. */
struct trace_span {
	uint64_t first_ns, last_ns;
	uint32_t count;
};

/* Writes a chunk that has no events; those added before may come behind it. span: NULL, it is about no time. */
void trace_writer_chunk(struct trace_writer *writer, enum trace_chunk_kind kind, const void *content, size_t size_bytes,
			const struct trace_span *span);

/* What is not in the file yet goes there when the oldest of it is older than limit_ns before now_ns. */
void trace_writer_flush(struct trace_writer *writer, uint64_t now_ns, uint64_t limit_ns);

struct trace_writer_counts {
	uint64_t events, chunks, file_bytes;
};

struct trace_writer_counts trace_writer_counts(const struct trace_writer *writer);

/* 0, or the error that ended the writing: -ENOSPC and the like. */
int trace_writer_error(const struct trace_writer *writer);

/* Ends the trace with its index, puts the file in place unless that failed, and frees the writer. 0, or the first error. */
int trace_writer_close(struct trace_writer *writer);

/* Frees the writer, without an end of the trace. A file that is not in place is gone. */
void trace_writer_discard(struct trace_writer *writer);
