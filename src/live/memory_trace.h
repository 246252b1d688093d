/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace of a run that nobody wants in a file, as long as it is small: its report has predictions from it. */
#pragma once

#include <stdbool.h>

struct engine;
struct memory_trace;
struct recorder;

/* NULL, in silence: there can be none. The recorder is the caller's. */
struct memory_trace *memory_trace_new(struct engine *engine, struct recorder **recorder);
void memory_trace_free(struct memory_trace *trace);

/* Gives it up if it has become too large. */
void memory_trace_step(struct memory_trace *trace, struct recorder *recorder);

/* False: it was given up. */
bool memory_trace_is_there(const struct memory_trace *trace);

/* As long as it lives. */
const char *memory_trace_path(const struct memory_trace *trace);
