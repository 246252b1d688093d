/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock that goes to those who want it in the order in which they came: who has it for long can let the others have it in between,
 * and comes behind them.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct fair_lock {
	pthread_mutex_t mutex; /* of all that follows; nobody keeps it */
	pthread_cond_t changed;
	uint64_t next, served; /* numbers: of the next one who comes, and of who has it */
	uint64_t wakes;
};

void fair_lock_init(struct fair_lock *lock);
void fair_lock_fini(struct fair_lock *lock);

void fair_lock_take(struct fair_lock *lock);
void fair_lock_give(struct fair_lock *lock);

/* The caller has it. Whether others wait for it. */
bool fair_lock_is_wanted(struct fair_lock *lock);

/* The caller has it: gives it away, waits until somebody has called fair_lock_wake() meanwhile, and takes it again. */
void fair_lock_wait(struct fair_lock *lock);
void fair_lock_wake(struct fair_lock *lock);
