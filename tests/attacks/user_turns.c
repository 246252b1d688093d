// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A target that somebody else runs: setuid, or in namespaces of its own. It says who it is, and for each line that
 * it reads two threads take turns, so that a report of it has waits in functions of its own. It ends with its input,
 * and the exit status says whether it still is who it was.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { TURNS = 200, WORK = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void __attribute__((noinline)) await_turn(int me)
{
	pthread_mutex_lock(&lock);
	while (turn % 2 != me)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void __attribute__((noinline)) give_turn(void)
{
	pthread_mutex_lock(&lock);
	turn++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void __attribute__((noinline)) take_turns(int me)
{
	for (int i = 0; i < TURNS; i++) {
		await_turn(me);
		for (volatile int work = 0; work < WORK; work++)
			;
		give_turn();
	}
}

static void *other(void *data)
{
	(void)data;
	take_turns(1);
	return NULL;
}

static bool take_all_turns(void)
{
	pthread_t thread;

	turn = 0;
	if (pthread_create(&thread, NULL, other, NULL))
		return false;
	take_turns(0);
	return !pthread_join(thread, NULL);
}

int main(void)
{
	uid_t real = getuid(), effective = geteuid();
	char line[64];

	printf("%u %u %d\n", real, effective, (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!take_all_turns())
			return 1;
		printf("%u %u\n", getuid(), geteuid());
		fflush(stdout);
	}
	return getuid() != real || geteuid() != effective;
}
