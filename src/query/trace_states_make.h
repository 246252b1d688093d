/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the file with the history of states of a trace. */
#pragma once

#include <stdbool.h>

struct out_file;
struct pause;
struct trace_reader;

/* Whether the file with that descriptor is whole, and of the trace as it is now, with names from where they are
 * wanted. */
bool trace_states_are_of(int fd, const struct trace_reader *trace, bool opens_files);

/*
 * Reads the trace once; opens_files: see symbols_set_offline(). With pauses (NULL: none), which may set
 * *is_cancelled (NULL: never). file: as it was just opened; it is closed in any case. path: what it is
 * called; NULL: nothing is said of what goes wrong. Returns a descriptor of it, to be read and closed;
 * -ECANCELED, or another negative errno after a message.
 */
int trace_states_make(struct out_file *file, const char *path, const char *trace_path, struct trace_reader *trace,
		      bool opens_files, struct pause *pause, const bool *is_cancelled);
