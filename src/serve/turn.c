/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/turn.h"

enum { BUSY_MAX = 8 }; /* half of the threads that answer: http_server.c */

void turn_init(struct turn *turn, pthread_mutex_t *lock)
{
	turn->lock = lock;
	turn->away = turn->waiting = turn->ending = 0;
	pthread_cond_init(&turn->is_back, NULL);
}

void turn_fini(struct turn *turn)
{
	pthread_cond_destroy(&turn->is_back);
}

bool turn_is_full(const struct turn *turn)
{
	return turn->ending || turn->away + turn->waiting >= BUSY_MAX;
}

void turn_leave(struct turn *turn)
{
	turn->away++;
	pthread_mutex_unlock(turn->lock);
}

void turn_return(struct turn *turn)
{
	pthread_mutex_lock(turn->lock);
	turn->away--;
	pthread_cond_broadcast(&turn->is_back);
}

void turn_wait(struct turn *turn)
{
	turn->waiting++;
	pthread_cond_wait(&turn->is_back, turn->lock);
	turn->waiting--;
	pthread_cond_broadcast(&turn->is_back); /* for turn_wait_all() */
}

void turn_wait_all(struct turn *turn)
{
	turn->ending++;
	while (turn->away || turn->waiting)
		pthread_cond_wait(&turn->is_back, turn->lock);
	turn->ending--;
}
