/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pyramid of summaries: for each thread, or CPU, how much of each 2^k ns it spent how, so that any stretch of time can be drawn or
 * summed up without its changes. A window of a level where cells have so few changes that going through them costs little is not kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "states/share_cells.h"
#include "trace/trace_format.h"

struct share_log;
struct trace_writer;

/* What is kept of a thread. Begins zeroed, except for its number. */
struct share_thread {
	uint32_t number;
	uint8_t share; /* what it has been doing */
	bool has_begun;
	uint32_t open;            /* a bit for each level with a cell that has no end yet */
	size_t place;             /* among those that live */
	uint64_t until_ns;        /* time up to there is in the cells */
	struct share_cell *cells; /* [SHARE_LEVELS]; NULL: it does not live, or nothing is kept */
};

/* kind: of the chunks. */
struct share_log *share_log_new(struct trace_writer *writer, enum trace_chunk_kind kind);

/* From now_ns on, which does not run backwards, the thread spends its time so. */
void share_log_change(struct share_log *log, struct share_thread *thread, uint64_t now_ns, uint8_t share);

/* What the thread has been doing since the last change is called otherwise; until_ns has to be the time of that. */
void share_log_correct(struct share_thread *thread, uint8_t share);

/* At now_ns the thread ends. What there is of it is kept; it may begin again. */
void share_log_end(struct share_log *log, struct share_thread *thread, uint64_t now_ns);

/* All threads have ended: writes what is left. */
void share_log_finish(struct share_log *log);
void share_log_free(struct share_log *log);
