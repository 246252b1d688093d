/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait for ever, and who keeps them: of each wait that nobody ended, the wait of the thread
 * that holds the lock. Only what is proved is reported: that the holder had the lock when it began to wait
 * itself, or is in a wait that began before it was seen to have it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/sums/waits.h"
#include "waits/wait_names.h"

struct findings;

struct stuck_wait {
	const struct wait_lasting *wait;
	struct wait_meaning meaning;     /* if the holder is known */
	const struct stuck_wait *holder; /* NULL: unknown, or it does not wait */
	uint32_t cycle;                  /* the same for those that wait for each other; 0: none */
	uint32_t leads_to;               /* the cycle that it is in or behind; 0: none */
};

struct stuck {
	struct stuck_wait *waits;
	size_t count;
	uint32_t cycle_count;
};

/* How long threads waited for the lock that are in a cycle or behind one. */
uint64_t stuck_endless_ns(const struct stuck *stuck, const struct wait_lock *lock);

/* A wait for the lock whose holder waits, but in no cycle; NULL: there is none. */
const struct stuck_wait *stuck_find(const struct stuck *stuck, const struct wait_lock *lock);

/* In the arena of findings; valid until the account of open waits is taken back. */
struct stuck *findings_find_stuck(struct findings *findings);
