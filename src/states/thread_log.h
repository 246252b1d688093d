/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The changes of several blocks of the history once more, thread by thread: who asks for a few of very many threads does not go through
 * the changes of all. Kept only where there are many threads. On disk it is chunks TRACE_CHUNK_STATE_THREADS (doc/pinch-states.5).
 */
#pragma once

#include <stddef.h>

struct state_block;
struct thread_log;
struct trace_writer;

enum {
	THREAD_LOG_THREADS_MIN = 256, /* of a block with fewer threads nothing is kept */
	THREAD_LOG_GROUP = 256,       /* threads of a chunk */
};

struct thread_log *thread_log_new(struct trace_writer *writer);

/* The block is in the file; blocks come one after the other, numbered from 0. */
void thread_log_add(struct thread_log *log, const struct state_block *block, size_t number);

/* Writes what is left. */
void thread_log_finish(struct thread_log *log);
void thread_log_free(struct thread_log *log);
