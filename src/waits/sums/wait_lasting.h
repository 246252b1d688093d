/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that nobody ended: they lasted when the trace ended, last while a report is made, or their
 * threads were killed. Of the killed only the latest that waited for a lock with an owner are kept.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "waits/sums/open_wait.h"
#include "waits/sums/wait_rows.h"

struct wait_lastings;

struct wait_lastings *wait_lastings_new(void);
void wait_lastings_free(struct wait_lastings *lastings);
void wait_lastings_add(struct wait_lastings *lastings, const struct thread *thread, const struct open_wait *wait,
		       uint64_t end_ns, const struct wait_path *path, const struct wait_lock *lock);

/* The thread ended right after its last wait, which may have ended because the thread was to end. */
void wait_lastings_add_killed(struct wait_lastings *lastings, const struct thread *thread,
			      const struct open_wait *wait);

/* Forgets all but those of dead threads. */
void wait_lastings_clear(struct wait_lastings *lastings);
const struct wait_lasting *wait_lastings_next(const struct wait_lastings *lastings, size_t *cursor);
