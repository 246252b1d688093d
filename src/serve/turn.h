/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who looks at a trace has its viewer's lock. Who runs a script of a reader gives the lock away meanwhile, for that may take seconds: the
 * others are answered. Whose answer takes long gives way to them now and then. What is viewed stays until all are back.
 */
#pragma once

#include <stdbool.h>

struct fair_lock;

struct turn {
	struct fair_lock *lock; /* the viewer's; borrowed */
	unsigned int away;      /* so many run scripts, or let others look at the trace before they go on */
	unsigned int waiting;   /* so many wait for one of them */
	unsigned int ending;    /* so many wait until all are back: nobody leaves meanwhile */
};

void turn_init(struct turn *turn, struct fair_lock *lock);

/* Whether nobody may leave: so many run scripts or wait for them that the server needs its other threads, or all are waited for. */
bool turn_is_full(const struct turn *turn);

/* The caller has the lock: gives it away, and takes it again. */
void turn_leave(struct turn *turn);
void turn_return(struct turn *turn);

/* The caller has the lock, and is in the middle of a long answer: those who wait for the lock have it first. */
void turn_give_way(struct turn *turn);

/* The caller has the lock, which others have until one of those who are away is back. */
void turn_wait(struct turn *turn);

/* The same until all are back, and nobody waits any more. */
void turn_wait_all(struct turn *turn);
