// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For comparisons: held_longer HOLD_MS [PAUSE_MS]. Ten times, `keeper` (main) holds a lock for HOLD_MS,
 * for which a sleep stands, while three threads, `clerk-0` to `clerk-2`, wait for it. With PAUSE_MS it
 * rests so long each time before it takes the lock.
 * Known answer: with a longer HOLD_MS, clerks spend more time in `lock` on vault_lock in open_vault(),
 * waiting for keeper: ten times the difference each. Without PAUSE_MS, nobody is in `poll` in take_a_rest().
 */
#include "roles.h"

#include <poll.h>

enum { CLERKS = 3, ROUNDS = 10 };

static pthread_mutex_t vault_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int visits; /* owned by vault_lock */
static struct role clerks[CLERKS];

static OWN_FRAME void open_vault(int number)
{
	(void)number;
	pthread_mutex_lock(&vault_lock);
	visits++;
	pthread_mutex_unlock(&vault_lock);
}

static OWN_FRAME void keep_vault(unsigned hold_ms)
{
	pthread_mutex_lock(&vault_lock);
	role_start_all(clerks, CLERKS, "clerk-%d", open_vault);
	role_await_all(clerks, CLERKS, SYS_futex);
	sleep_ms(hold_ms);
	pthread_mutex_unlock(&vault_lock);
}

static OWN_FRAME void take_a_rest(unsigned pause_ms)
{
	poll(NULL, 0, pause_ms);
}

int main(int argc, char **argv)
{
	role_name_self("keeper");
	for (int i = 0; i < ROUNDS; i++) {
		if (argc > 2)
			take_a_rest(atoi(argv[2]));
		keep_vault(argc > 1 ? atoi(argv[1]) : 10);
		role_join_all(clerks, CLERKS);
	}
	return 0;
}
