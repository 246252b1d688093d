/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads live in a trace as it is read: so many at a time, so that whoever wrote it does not say how much
 * memory its readers need. They never see events of further ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "events.h"

enum {
	TRACE_THREADS_MAX = 1 << 16,
	/* One after the other, in a history of states, which keeps something of each. */
	TRACE_THREADS_EVER_MAX = 1 << 20,
};

struct trace_threads;

struct trace_threads *trace_threads_new(size_t alive_max, size_t ever_max);
void trace_threads_free(struct trace_threads *threads);

/* Takes a well-formed event in, in the order of the trace; false: it is about a thread for which there is no space. */
bool trace_threads_admit(struct trace_threads *threads, const struct ev_header *header);
