/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An execution: one task of a thread, from where a span begins to where it ends, as a request that a server
 * answers. Between a program's own events it may go from thread to thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct execution {
	uint32_t thread;           /* its number in the trace; where it ended */
	uint32_t begin_thread;     /* the same: mostly one */
	uint32_t span;             /* which of the spans that were recorded, from 0 */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t depth;            /* executions of the same span that it lies in */
	/* Calls that read or wrote, as /proc/PID/io tells them, and faults of pages. */
	uint64_t transfers, read_bytes, written_bytes, faults;
};

/* The caller owns the array. */
struct executions {
	struct execution *list; /* by their beginnings */
	size_t count, capacity;
};
