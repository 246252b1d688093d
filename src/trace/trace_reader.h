/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a trace, which may be damaged, incomplete, still being written, or made by an enemy: what a
 * checksum does not guarantee is never used, and times that no trace can have (event_times.h) come no further.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "trace/event_times.h"
#include "trace/trace_format.h"

struct trace_reader;

/*
 * -EBADMSG: no trace; -ENOTSUP: of another version; or a negative errno: -EINVAL when it is not a regular
 * file. Nothing is said.
 */
int trace_reader_open(const char *path, struct trace_reader **out);
void trace_reader_close(struct trace_reader *reader);

/*
 * The same of a flight recorder's trace that is being written, without so many eighths of what it has, if it can begin later: its oldest part
 * may be overwritten before it is read.
 */
int trace_reader_open_late(const char *path, unsigned int eighths, struct trace_reader **out);

/* Of the file; the reader closes it. */
int trace_reader_fd(const struct trace_reader *reader);

/*
 * Whether somebody seems to be writing it: another pinch has it for itself, or something else wrote to it in the last few seconds.
 */
bool trace_reader_is_being_written(const struct trace_reader *reader);

struct trace_extent {
	uint64_t events, chunks;
	uint64_t first_ns, last_ns; /* CLOCK_MONOTONIC; 0: no events */
	uint64_t created_ns;        /* CLOCK_REALTIME */
	uint64_t id[2];             /* random: tells traces apart */
	uint64_t file_bytes;
	uint64_t unread_bytes;  /* at the end: the writer was stopped there, or they are damaged */
	bool is_ended;          /* the writer came to its end */
	bool begins_late;       /* what came before is not kept, or was not sent */
	bool is_ring;           /* a flight recorder's */
	bool is_header_damaged; /* nobody knows when it was created */
	bool has_no_forms;      /* its events are read as this version writes them */
};

const struct trace_extent *trace_reader_extent(const struct trace_reader *reader);

/*
 * Of a flight recorder's trace that goes on: what its times count from was there once, and may be overwritten. trace_extent.first_ns says that
 * from here on. 0: nothing else than before.
 */
void trace_reader_count_from(struct trace_reader *reader, uint64_t first_ns);

/*
 * All chunks, in the order in which they were written. One of TRACE_CHUNK_LOST stands where some are
 * missing, at the offset where the first of these should be.
 */
const struct trace_place *trace_reader_places(const struct trace_reader *reader, size_t *count);

/*
 * The file of a trace that was not at its end may have grown: what is whole of it by now is read, too. Of a flight recorder's, what was written
 * over before it was read is lost. 0 or a negative errno.
 */
int trace_reader_grow(struct trace_reader *reader);

/*
 * The content of the chunk numbered i, unpacked and valid until the next call; -EBADMSG: it is damaged;
 * or a negative errno.
 */
int trace_reader_content(struct trace_reader *reader, size_t i, const void **content, size_t *size_bytes);

/* Chunks that have no event of this thread, nor of others that were chosen before, are left out from now on. */
void trace_reader_choose_thread(struct trace_reader *reader, uint32_t thread);

/* Chunks without any user.SCHEMA are left out from now on, or are not any more. */
void trace_reader_choose_schemas(struct trace_reader *reader, bool only_schemas);

/* The next event that is read is the first of the first chunk with one at or after time_ns. */
void trace_reader_seek(struct trace_reader *reader, uint64_t time_ns);

/* The next event that is read is the first of the chunk numbered i, and behind its last one there is none. */
void trace_reader_begin_chunk(struct trace_reader *reader, size_t i);

/*
 * What is read of a chunk does not depend any more on what was read before: what was recorded before is repeated, and threads may
 * be too many.
 */
void trace_reader_ignore_past(struct trace_reader *reader);

/*
 * The next event, valid until the next call. 1; 0: there is none; -EBADMSG: a chunk is damaged or some are missing, the next
 * call goes on behind it; or a negative errno.
 */
int trace_reader_next(struct trace_reader *reader, const struct ev_header **header);

/* Whether the event that was read last is repeated: it stands before an event that refers to it, and has that one's time, or a later one. */
bool trace_reader_is_repeated(const struct trace_reader *reader);

/*
 * Like trace_reader_next(), but the event is as the trace has it, with kinds and fields that this version does not
 * know: trace_schema.h says what they are. What such an event says of its own length need not be true.
 */
int trace_reader_next_stored(struct trace_reader *reader, const struct ev_header **stored, size_t *size_bytes);

/* The event that trace_reader_next_stored() returned last, as trace_reader_next() has it; NULL: its kind is not known here. */
const struct ev_header *trace_reader_known(const struct trace_reader *reader);

/*
 * The number in its chunk, from 0 on, of the event that trace_reader_next_stored() returned last, among all that are recorded there, also
 * those that were left out.
 */
uint32_t trace_reader_event_at(const struct trace_reader *reader);

/* Of the events since it was last read from its beginning: those skipped because their kinds are not known here. */
uint64_t trace_reader_unknown(const struct trace_reader *reader);

/* The number of the chunk that the last event, or damage, was in. */
size_t trace_reader_at(const struct trace_reader *reader);

/* Of the events since it was last read from its beginning. */
const struct bad_times *trace_reader_bad_times(const struct trace_reader *reader);

/*
 * How many threads there may be in what is read, at a time and in all. If nobody says so, TRACE_THREADS_MAX
 * (trace_threads.h) at a time. Reading begins again.
 */
void trace_reader_allow_threads(struct trace_reader *reader, size_t alive_max, size_t ever_max);

/* Of the events since it was last read from its beginning: those left out because there were more threads. */
uint64_t trace_reader_crowded_out(const struct trace_reader *reader);
