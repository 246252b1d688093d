/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is who in several traces: a thread is one that has the same id and began at the same time. At each
 * moment one trace speaks for it, the others are not listened to. Of one that is not traced (--system)
 * nobody is, while another trace traces it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive/merge_source.h"
#include "events.h"
#include "values.h"

struct merge_threads;

/* A trace that has the thread. */
struct merge_knower {
	struct merge_knower *next;
	struct merge_source *source;
	uint32_t number; /* its number there */
};

struct merge_thread {
	uint32_t number;               /* in the trace that is made */
	struct merge_thread *twin;     /* of one that is not traced: it is, in another trace */
	struct merge_source *reporter; /* NULL: nobody yet */
	uint32_t reporters_number;     /* its number in that trace */
	struct merge_knower *knowers;  /* the last one first */
	bool is_alive;
};

static inline bool merge_thread_lives(const struct ev_thread_found *found)
{
	return found && found->phase != PHASE_UNKNOWN && found->phase != PHASE_DEAD;
}

struct merge_threads *merge_threads_new(void);
void merge_threads_free(struct merge_threads *threads);

/* The thread that a source's event introduces: thread.BORN or thread.FOUND. */
void merge_threads_meet(struct merge_threads *threads, struct merge_source *source, const struct ev_header *header);

/* The thread that has an id from now on. */
void merge_threads_rename(struct merge_threads *threads, struct merge_source *source, const struct ev_thread_exec *e);

/* NULL: of the number 0, or there are too many. */
struct merge_thread *merge_threads_get(struct merge_threads *threads, struct merge_source *source, uint32_t number);

/* The thread with this number in the trace that is made, or NULL. */
struct merge_thread *merge_threads_find(struct merge_threads *threads, uint32_t number);

/* The thread with this id that lives and is traced now, or NULL. */
struct merge_thread *merge_threads_by_tid(struct merge_threads *threads, uint32_t tid);

/* The one whose events count: the thread, or as what another trace traces it. NULL: NULL. */
struct merge_thread *merge_threads_as_traced(struct merge_thread *thread);

/* Whether the source is to be listened to about the thread; if nobody else is, it is from here on. */
bool merge_threads_reports(struct merge_thread *thread, struct merge_source *source, uint32_t number);

/* The trace that speaks for it has no more events: another one that has it goes on. False: nobody does. */
bool merge_threads_hand_over(struct merge_thread *thread);

/* Walk with *cursor = 0; NULL ends. */
struct merge_thread *merge_threads_next(struct merge_threads *threads, size_t *cursor);
