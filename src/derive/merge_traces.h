/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several traces become the one that a single pinch would have recorded that traced all of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "derive/merge_switch.h"

struct clock_readings;

struct merge_input {
	const char *path, *name; /* where it is, and what messages call it */
};

/*
 * Writes the merged trace of count inputs, MERGE_SOURCES_MAX at most, in place of what path has. clocks: what else was
 * read of their hosts' clocks; NULL: nothing. 0, or a negative errno after a message; *is_written: the trace is in place, without
 * what could not be read.
 */
int merge_traces(const struct merge_input *inputs, size_t count, const struct clock_readings *clocks, const char *path,
		 bool *is_written);
