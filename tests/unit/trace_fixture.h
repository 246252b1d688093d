/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random events of all kinds, written into a trace and known by heart to compare with what is read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct trace_reader;
struct trace_writer;

extern uint64_t trace_seed;

uint64_t trace_draw(void);
uint64_t trace_below(uint64_t limit);

/* Well-formed; valid until the next call. */
const struct ev_header *trace_make_event(uint64_t time_ns);

/* What was written: event i begins at[i] bytes behind the first one. */
extern struct trace_written {
	char *bytes;
	size_t size_bytes, capacity;
	size_t *at;
	size_t count, at_capacity;
} trace_written;

void trace_note(const struct ev_header *header);
void trace_forget(void);
bool trace_is_written(size_t i, const struct ev_header *header);
const struct ev_header *trace_event(size_t i);

/* An empty file, removed at the end. */
extern char trace_path[];
void trace_begin(void);
void trace_end(void);

/* Writes so many events; one in so many ends a chunk. */
struct trace_writer *trace_write(size_t count, uint64_t flush_one_in);

/* Reads as far as it goes; returns how many events there were, all as written. */
size_t trace_read(struct trace_reader *reader, int *result);

/*
 * Kills a process that writes and tells in *flushed how many events are in the file, when these are as many as
 * count, or so many turns of a loop later. Returns how many they were then.
 */
size_t trace_kill_writer(void (*write_all)(_Atomic size_t *flushed), size_t count, uint64_t spins);
