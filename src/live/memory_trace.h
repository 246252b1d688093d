/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace of a run that nobody wants in a file, as long as it is small: its report has predictions from it, its page
 * for a browser time lines, the graph and the critical path.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct memory_trace;
struct recorder;

/* NULL, in silence: there can be none. The recorder is the caller's. Of more bytes it is given up. */
struct memory_trace *memory_trace_new(struct engine *engine, uint64_t bytes_max, struct recorder **recorder);
void memory_trace_free(struct memory_trace *trace);

/* Gives it up if it has become too large. */
void memory_trace_step(struct memory_trace *trace, struct recorder *recorder);

/* False: it was given up. */
bool memory_trace_is_there(const struct memory_trace *trace);

/* As long as it lives. */
const char *memory_trace_path(const struct memory_trace *trace);
