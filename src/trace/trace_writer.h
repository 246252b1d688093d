/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace: chunk by chunk behind what is there, so that whatever ends the writer, all chunks
 * before can be read. The first error stays; what comes after it is dropped.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "trace/trace_format.h"

struct trace_writer;

/*
 * Begins a trace, in place of what the file held. -EBUSY: another one is being written there; or a
 * negative errno. Nothing is said.
 */
int trace_writer_open(const char *path, struct trace_writer **out);

/* Adds a well-formed event; they come in time order, but for those that the session calls late. */
void trace_writer_event(struct trace_writer *writer, const struct ev_header *header);

/* Writes a chunk that has no events, behind the events so far. */
void trace_writer_chunk(struct trace_writer *writer, enum trace_chunk_kind kind, const void *content,
			size_t size_bytes);

/* What is not in the file yet goes there when the oldest of it is older than limit_ns before now_ns. */
void trace_writer_flush(struct trace_writer *writer, uint64_t now_ns, uint64_t limit_ns);

struct trace_writer_counts {
	uint64_t events, chunks, file_bytes;
};

struct trace_writer_counts trace_writer_counts(const struct trace_writer *writer);

/* 0, or the error that ended the writing: -ENOSPC and the like. */
int trace_writer_error(const struct trace_writer *writer);

/* Ends the trace with its index and frees the writer. 0, or the first error. */
int trace_writer_close(struct trace_writer *writer);
