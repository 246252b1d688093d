/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "trace/trace_format.h"

/*
 * Who takes the chunks of a trace that has no file of its own. The chunk is complete but for its trace and number,
 * which trace_chunk_seal() gives it. threads: as in struct trace_place; NULL: none. All is borrowed.
 */
struct trace_sink {
	void (*put)(void *data, const struct trace_chunk *chunk, const uint64_t *threads, const void *stored);
	void *data;
};
