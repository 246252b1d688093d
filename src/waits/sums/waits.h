/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why threads wait, on what, and who ends it. criticality.c says when a wait begins and ends; here
 * waits add up by cause, by call path and its wakers, by futex and by file. Sums by cause, futex and
 * file are exact; those by call path are estimated when stacks are thinned out (doc/metrics.md).
 * Owns all it hands out; pointers stay valid until the next event or waits_free().
 *
 * Owns: waits of threads, added up: by cause, call path, lock and file.
 * Used by: account, states, findings/parts, findings/blame, findings/verdict, engine, live.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/threads.h"
#include "waits/sums/open_wait.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/wait_rows.h"
#include "waits/sums/wait_unseen.h"

struct files;
struct others;
struct waits;

/* From the clock of a thread.FOUND to the end of its record: the thread's next event may come between. */
enum { LIST_NS_MAX = 10000000 };

struct waits *waits_new(const struct files *files, const struct others *others, struct missing_wakeups *missing);
void waits_free(struct waits *waits);

/* Why the slice ended that e ends. */
enum wait_cause waits_cause_of(const struct waits *waits, const struct wait_facts *facts);

/* slice_cmetric_ns: of the slice that e ends when it was critical, else 0. */
void waits_begin(struct waits *waits, struct wait_party *party, uint64_t now_ns, uint64_t share_ns,
		 uint64_t slice_cmetric_ns, const struct ev_sched_switch *e);

/* e says where the thread waits; nothing, if it waits for something else by then. */
void waits_listed(struct waits *waits, const struct thread *thread, struct open_wait *wait,
		  const struct ev_thread_waits *e);

/* Data has come to one of the connections that the thread waits for: if it is woken next, that is why. */
void waits_ready(struct open_wait *wait, const struct ev_sched_ready *e);

/* Where a wait was added when it ended. */
struct wait_added {
	const struct wait_path *path; /* NULL: its stack was not kept */
	double weight;                /* of the path: the waits that it stands for */
	const struct wait_lock *lock; /* NULL: it is for none */
	enum wait_cause cause;
	bool is_by_waker; /* what ended it is what the waker did, not an interrupt that came to it */
};

/*
 * The wait of party ends. e: the wake-up, NULL when it was lost or (is_over) the trace ends; waker:
 * whose, when it is traced, else NULL.
 */
struct wait_added waits_end(struct waits *waits, struct wait_party *party, uint64_t now_ns,
			    const struct ev_sched_wake *e, struct wait_party *waker, bool is_over);

/* The thread of party ends. If it was woken for nothing else, nobody needed it: its wait was idle. */
void waits_thread_ends(struct waits *waits, const struct wait_party *party);

/*
 * Counts the open wait of party as if it ended at now_ns with nothing to end it, until
 * waits_uncount_open() takes back all that was counted so. No event may come in between.
 */
void waits_count_open(struct waits *waits, const struct wait_party *party, uint64_t now_ns);
void waits_uncount_open(struct waits *waits);

/* Exact, by the cause that facts alone tell. */
struct wait_sum waits_by_cause(const struct waits *waits, enum wait_cause cause);

/* Walk with *cursor = 0; NULL ends. */
const struct wait_path *waits_next_path(const struct waits *waits, size_t *cursor);

const struct wait_unseen_row *waits_next_unseen(const struct waits *waits, size_t *cursor);

const struct wait_lock *waits_next_lock(const struct waits *waits, size_t *cursor);

const struct wait_file *waits_next_file(const struct waits *waits, size_t *cursor);

/* Those of dead threads first; valid until the account of open waits is taken back. */
const struct wait_lasting *waits_next_lasting(const struct waits *waits, size_t *cursor);

/* Those of such waits for an object whose stacks were not kept; NULL: none. See wait_unseen.h. */
const struct wait_unseen_row *waits_find_unseen(const struct waits *waits, uint64_t space, enum wait_cause cause,
						uint64_t object);

/* Waits of which no record says who ended them, by the reason for that. */
uint64_t waits_missing_wakeups(const struct waits *waits, enum missing_reason reason);
