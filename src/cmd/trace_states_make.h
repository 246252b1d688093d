/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the file with the history of states of a trace. */
#pragma once

#include <stdbool.h>

struct pause;
struct text;
struct trace_reader;

/* Puts where it is kept: beside the trace or, where nobody may write, in the user's cache. */
void trace_states_path(const char *trace_path, const struct trace_reader *trace, struct text *out);

/* Whether the file is there, whole, and of the trace as it is now. */
bool trace_states_are_of(const char *path, const struct trace_reader *trace);

/*
 * Reads the trace once, with pauses (NULL: none), which may set *is_cancelled (NULL: never). 0, -ECANCELED, or
 * another negative errno after having said why not.
 */
int trace_states_make(const char *path, const char *trace_path, struct trace_reader *trace,
		      struct pause *pause, const bool *is_cancelled);
