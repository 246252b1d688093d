// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: eight threads, `turn-0` to `turn-7`, take turns, a hundred in all. The one
 * whose turn it is computes for 6 ms when all the others wait, and then wakes all of them, though
 * only one may go on.
 * Known answer: the heaviest wait is `condition`, on turn_changed, in await_turn(); its waker is
 * give_turn(). There are seven such waits in each turn, of which six end for nothing.
 */
#include "roles.h"

enum { THREADS = 8, TURNS = 100, TURN_MS = 6 };

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn; /* owned by turn_lock */
static struct role threads[THREADS];

static OWN_FRAME int await_turn(int number)
{
	int is_over;

	pthread_mutex_lock(&turn_lock);
	while (turn < TURNS && turn % THREADS != number)
		pthread_cond_wait(&turn_changed, &turn_lock);
	is_over = turn >= TURNS;
	pthread_mutex_unlock(&turn_lock);
	return !is_over;
}

static OWN_FRAME void give_turn(void)
{
	pthread_mutex_lock(&turn_lock);
	turn++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&turn_lock);
}

static OWN_FRAME void use_turn(int number)
{
	/* They have nothing else to wait for: nobody holds turn_lock meanwhile. */
	role_await_all(threads, number, SYS_futex);
	role_await_all(threads + number + 1, THREADS - number - 1, SYS_futex);
	compute_ms(TURN_MS);
}

static void take_turns(int number)
{
	while (await_turn(number)) {
		use_turn(number);
		give_turn();
	}
}

int main(void)
{
	role_start_all(threads, THREADS, "turn-%d", take_turns);
	role_join_all(threads, THREADS);
	return 0;
}
