/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks: futex words, System V semaphores, locked files. How long one is held is known from its
 * contended sections: from when its holder got it, if it had to wait for it, or else from when
 * the first one began to wait, to the wake-up. Owns the rows, which stay until wait_locks_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/sums/ended_wait.h"

struct journal;
struct wait_locks;

struct wait_locks *wait_locks_new(void);
void wait_locks_free(struct wait_locks *locks);

/* is_spurious_wake: the thread was woken from the same just before. */
void wait_locks_begin(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
		      bool is_spurious_wake);

/* More is known about a wait that was found: who holds the lock. */
void wait_locks_found(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait);

/* The wait is none for the lock after all. */
void wait_locks_leave(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait);

/*
 * path: where it waited, or NULL. *is_call: whether others were woken from the same with it. Returns
 * the lock.
 */
struct wait_lock *wait_locks_end(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
				 uint64_t wait_ns, uint64_t idle_ns, struct wait_path *path, const struct wait_end *end,
				 bool *is_call);

/* So many waits for it, which time ended, are those that end ended, too: parts of one; weight: that each stands for. */
void wait_lock_move_waker(struct wait_locks *locks, struct wait_lock *lock, const struct wait_end *end, uint64_t count,
			  uint64_t wait_ns, uint64_t cmetric_ns, double weight);

/* The lock that the wait is for, before it is added. */
struct wait_lock *wait_locks_of(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait);

/* Whether the thread has waited for it, too; true also of one in 64 others that wait. */
bool wait_lock_may_be_waited_by(const struct wait_lock *lock, const struct thread *thread);

/* The same for an open wait: the journal can undo it. */
struct wait_lock *wait_locks_count_open(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
					uint64_t wait_ns, uint64_t idle_ns, struct wait_path *path,
					struct journal *journal);
const struct wait_lock *wait_locks_next(const struct wait_locks *locks, size_t *cursor);
