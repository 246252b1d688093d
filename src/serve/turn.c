/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/turn.h"

#include "serve/fair_lock.h"

enum { BUSY_MAX = 8 }; /* half of the threads that answer: http_server.c */

void turn_init(struct turn *turn, struct fair_lock *lock)
{
	*turn = (struct turn){ .lock = lock };
}

bool turn_is_full(const struct turn *turn)
{
	return turn->ending || turn->away + turn->waiting >= BUSY_MAX;
}

void turn_leave(struct turn *turn)
{
	turn->away++;
	fair_lock_give(turn->lock);
}

void turn_return(struct turn *turn)
{
	fair_lock_take(turn->lock);
	turn->away--;
	fair_lock_wake(turn->lock);
}

void turn_give_way(struct turn *turn)
{
	/* Nobody leaves while somebody waits for all. */
	if (turn->ending || !fair_lock_is_wanted(turn->lock))
		return;
	turn_leave(turn);
	turn_return(turn);
}

void turn_wait(struct turn *turn)
{
	turn->waiting++;
	fair_lock_wait(turn->lock);
	turn->waiting--;
	fair_lock_wake(turn->lock); /* for turn_wait_all() */
}

void turn_wait_all(struct turn *turn)
{
	turn->ending++;
	while (turn->away || turn->waiting)
		fair_lock_wait(turn->lock);
	turn->ending--;
}
