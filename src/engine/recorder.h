/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the events of an engine into a trace file, and at the end what addresses are called, so that a
 * replay gives the same.
 */
#pragma once

#include <stdint.h>

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
