/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes summaries of CPUs, as share_log.h has them of threads, from the blocks of the history: so they say what a reader of the blocks
 * finds. On disk they are chunks TRACE_CHUNK_CPU_SHARES.
 */
#pragma once

#include <stdint.h>

struct cpu_log;
struct state_block;
struct state_gaps;
struct trace_writer;

/* gaps are borrowed; they grow. */
struct cpu_log *cpu_log_new(struct trace_writer *writer, const struct state_gaps *gaps);

/* The block that comes next, with all gaps up to its end. */
void cpu_log_add(struct cpu_log *log, const struct state_block *block);

/* After the last block, which ends at end_ns. */
void cpu_log_finish(struct cpu_log *log, uint64_t end_ns);
void cpu_log_free(struct cpu_log *log);
