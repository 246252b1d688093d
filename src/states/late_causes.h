/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose call path, recorded late, told another cause than the one with which blocks and summaries that were complete by then have
 * them: readers of these put that right. On disk they are chunks TRACE_CHUNK_LATE_CAUSES.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct trace_reader;
struct trace_writer;

struct late_cause {
	uint64_t begin_ns; /* of the wait */
	uint64_t end_ns;   /* up to there summaries have it with its first cause */
	uint32_t thread;
	uint8_t first, share; /* as state_share() has them */
};

/* --- Writing -------------------------------------------------------------------------------- */

/* Begins zeroed. */
struct late_log {
	struct text bytes;
	size_t count;
};

/* Whether there is space for one more: else the wait keeps its first cause. */
bool late_log_has_space(const struct late_log *log);
void late_log_add(struct late_log *log, struct trace_writer *writer, const struct late_cause *cause);

/* Writes those that are not in the file yet. */
void late_log_flush(struct late_log *log, struct trace_writer *writer);
void late_log_fini(struct late_log *log);

/* --- Reading -------------------------------------------------------------------------------- */

struct late_causes;

/* Those of a file; what is damaged of them is missing. */
struct late_causes *late_causes_new(struct trace_reader *file);

/* The file has grown: takes what came since. */
void late_causes_grow(struct late_causes *causes);
void late_causes_free(struct late_causes *causes);

/* The share of a thread's wait that began at begin_ns; share: if no other one is known. */
uint8_t late_causes_share(const struct late_causes *causes, uint32_t thread, uint64_t begin_ns, uint8_t share);

/* Whether there is one of the thread at any time. */
bool late_causes_has(const struct late_causes *causes, uint32_t thread);

/* Those of a thread with a part in [from_ns, to_ns), one after the other; NULL: there are none. */
const struct late_cause *late_causes_in(const struct late_causes *causes, uint32_t thread, uint64_t from_ns,
					uint64_t to_ns, size_t *count);
