/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a wait was idle: nothing that it waited for was being done, and nobody waited for its end (doc/metrics.md). */
#pragma once

#include <stdint.h>

#include "waits/sums/ended_wait.h"

struct file_info;
struct wait_lock;

/*
 * Of a wait of wait_ns. file, lock: that it was for, or NULL; stack: where it was, 0: not known. What only a name tells (a lock
 * from a condition) is not known yet; findings have the last word.
 */
uint64_t wait_idle_ns(const struct wait_party *party, const struct open_wait *wait, uint64_t wait_ns,
		      const struct wait_end *end, const struct file_info *file, uint64_t stack,
		      const struct wait_lock *lock);

/* Of what was idle of the wait, what passed until something came from outside: to the thread, or to whoever ended its wait. */
uint64_t wait_outside_ns(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file,
			 uint64_t stack, uint64_t idle_ns);

/* The same wait has ended: its thread may have a request from now on, or none any more. lock: that it was for, or NULL. */
void wait_idle_end_request(struct wait_party *party, const struct wait_end *end, const struct file_info *file,
			   uint64_t stack, const struct wait_lock *lock);

/* So much of what time has ended of a wait, in parts that were repeated, is still idle, now that end has ended it. */
uint64_t wait_idle_of_parts(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file);
