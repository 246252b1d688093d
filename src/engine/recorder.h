/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the events of an engine into a trace file, and at the end what addresses are called, so that a
 * replay gives the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_sink.h"

struct engine;
struct recorder;
struct report;
struct trace_ring_options;
struct trace_writer_counts;

/*
 * Opens the trace; of ring zeros say that it may grow. The engine's other providers are there already: what
 * they hand out is written, too. What the file holds stays there as long as recorder_begin() was not called.
 * 0, or a negative errno after a message.
 */
int recorder_open(struct engine *engine, const char *path, const struct trace_ring_options *ring,
		  struct recorder **out);

/* The same without a ring, and nothing is said of what goes wrong, now or later. */
int recorder_open_silently(struct engine *engine, const char *path, struct recorder **out);

/* Who takes a trace that readers come to while it is made. The functions get the sink's data. */
struct recorder_stream {
	struct trace_sink sink;
	bool (*is_heard)(void *data);        /* somebody gets what happens */
	bool (*wants_beginning)(void *data); /* somebody waits for what a trace has to say first */
	void (*begin)(void *data,
		      uint64_t time_ns); /* that comes next, as of time_ns: chunks up to TRACE_CHUNK_HAS_PROLOGUE */
};

/* The chunks of the trace go to a stream, which is borrowed. */
int recorder_open_stream(struct engine *engine, const struct recorder_stream *stream, struct recorder **out);

/* Makes a beginning if the stream wants one. */
void recorder_serve(struct recorder *recorder);

/* All that was recorded goes where the trace goes. */
void recorder_flush(struct recorder *recorder);

/*
 * Gives what is known of addresses by now, as contents of chunks TRACE_CHUNK_NAMES, for a trace that began at
 * begin_ns; of another time: without names of code that programs generated. Of a stream only, also when it has ended.
 */
void recorder_names(struct recorder *recorder, uint64_t begin_ns,
		    void (*put)(void *data, const void *names, size_t size_bytes), void *data);

/* Puts the trace in place: tracing has begun. NULL: nothing. 0, or a negative errno after a message. */
int recorder_begin(struct recorder *recorder);

/* What is older than half a second goes to the file. */
void recorder_step(struct recorder *recorder, uint64_t now_ns);

/* Bytes of the trace in its file by now. */
uint64_t recorder_file_bytes(const struct recorder *recorder);

/* Nobody wants the trace any more: what comes is not written. It must not be finished then. */
void recorder_give_up(struct recorder *recorder);

/*
 * Ends the trace with the names that are known by now. 0, or a negative errno after having said why it is
 * incomplete.
 */
int recorder_finish(struct recorder *recorder, struct trace_writer_counts *counts);

/* Without an end, unless it has one: what there is can be read, if the trace was begun, or else is gone. */
void recorder_close(struct recorder *recorder);
