/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the file with the history of states of a trace. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pause.h"

struct out_file;
struct trace_reader;

/* Who waits while states are made. The caller owns the struct. */
struct states_waiter {
	struct pause pause;  /* taken from time to time */
	bool is_cancelled;   /* a pause may set it: then they are not made */
	atomic_uint percent; /* how far they are; another thread may read it */
	/*
	 * More of the history can be read from path (trace_states_open_growing()), which is valid as long as the history is being made; NULL:
	 * nobody reads it before it is whole. Called once in show_period_ns at most, and for at most a tenth of the time. Not 0: it is not called again.
	 */
	int (*show)(void *data, const char *path);
	void *show_data;
	uint64_t show_period_ns;
};

/* Whether the file with that descriptor is whole, and of the trace as it is now, with names from where they are
 * wanted. */
bool trace_states_are_of(int fd, const struct trace_reader *trace, bool opens_files);

/*
 * Reads the trace; opens_files: see symbols_set_offline(). waiter: NULL: nobody, or somebody at a terminal.
 * file: as it was just opened; it is closed in any case. path: what it is called; NULL: nothing is said of what goes wrong. Returns a descriptor of it, to be read and closed;
 * -ECANCELED; -EAGAIN: frames of a stack came long after a wait that names it, so that this wait can have got a wrong cause: it is to be made again without
 * waiter->show; or another negative errno after a message.
 */
int trace_states_make(struct out_file *file, const char *path, const char *trace_path, struct trace_reader *trace,
		      bool opens_files, struct states_waiter *waiter);
