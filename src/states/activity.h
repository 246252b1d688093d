/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did besides running threads, as a trace of --system tells it: requests that a disk had,
 * and interrupts that took a CPU. On disk they are chunks TRACE_CHUNK_ACTIVITIES, by their ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum activity_kind {
	ACTIVITY_DISK, /* from the issue of a request to its end */
	ACTIVITY_INTERRUPT,
	ACTIVITY_SOFTIRQ,
	ACTIVITY_KINDS,
};

struct activity {
	uint64_t begin_ns, end_ns;
	uint32_t resource;    /* DISK: major * 2^20 + minor; else the CPU */
	uint32_t thread, tid; /* DISK: who issued it; thread: a number, or 0; else who was interrupted */
	uint32_t detail;      /* DISK: bytes; INTERRUPT: its number; SOFTIRQ: its vector */
	uint8_t kind;
	uint8_t operation; /* DISK: enum block_operation */
};

/* --- Writing -------------------------------------------------------------------------------- */

struct activity_log;
struct session;
struct trace_writer;

struct activity_log *activity_log_new(struct session *session, struct trace_writer *writer);

/* Writes those that have ended by now. */
void activity_log_flush(struct activity_log *log);

/* What has not ended by end_ns ends then. */
void activity_log_finish(struct activity_log *log, uint64_t end_ns);
void activity_log_free(struct activity_log *log);

/* --- Reading -------------------------------------------------------------------------------- */

struct activities;
struct trace_reader;

/* Those of a file, which is borrowed. */
struct activities *activities_new(struct trace_reader *file);
void activities_free(struct activities *activities);

/* The file has grown: takes what came since. */
void activities_grow(struct activities *activities);

/* Whether the trace has any: without --system it has none. */
bool activities_are_recorded(const struct activities *activities);

/* Calls on_activity for each that has a part in [from_ns, to_ns), by their ends. */
void activities_each(struct activities *activities, uint64_t from_ns, uint64_t to_ns,
		     void (*on_activity)(void *data, const struct activity *activity), void *data);

/* Who handles an interrupt, as /proc/interrupts says; NULL: unknown. */
const char *activities_interrupt_name(const struct activities *activities, uint32_t number);
