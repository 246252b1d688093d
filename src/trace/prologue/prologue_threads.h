/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each traced thread does at the moment, as account/criticality.c takes it from the same events:
 * what is repeated of it must put that account into the same state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct prologue_out;
struct prologue_threads;

struct prologue_thread {
	struct ev_thread_found found;  /* what it is called, and what it does, as of the moment */
	struct ev_thread_title *title; /* NULL: none was recorded */
	struct ev_sched_switch wait;   /* with which it blocked; time_ns 0: before the first event */
	uint32_t cpu;                  /* of its slice */
	uint64_t wake_ns;
	uint32_t sync;       /* the last list that it was in, or that was before its last event */
	uint32_t recorded;   /* the last beginning at which it was recorded */
	bool is_described;   /* found has more than its number */
	bool is_wait_listed; /* of a wait that nobody saw begin: thread.WAITS says more */
	bool is_wake_early;  /* its wake-up came, the switch with which it blocks has yet to come */
	bool is_wake_late;   /* it runs, the wake-up before has yet to come */
	bool is_end_seen;
	bool is_queued; /* among the dead */
	struct prologue_thread *next_dead;
};

struct prologue_threads *prologue_threads_new(void);
void prologue_threads_free(struct prologue_threads *threads);

void prologue_threads_follow(struct prologue_threads *threads, const struct ev_header *header);

/* NULL: there is none, or it has been dead for long. */
struct prologue_thread *prologue_threads_find(const struct prologue_threads *threads, uint32_t number);

/* The list of all living threads, and that records are missing where they are. */
void prologue_threads_begin(struct prologue_threads *threads, uint64_t time_ns, const struct prologue_out *out);

/* Records that the thread is dead, unless that is recorded since the last beginning. */
void prologue_threads_refer(struct prologue_threads *threads, uint32_t number, uint64_t time_ns,
			    const struct prologue_out *out);
