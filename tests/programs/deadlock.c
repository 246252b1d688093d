// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadlock
 * Edge: two threads each hold a mutex and wait for the other's, for ever. "stuck" on standard output
 * says that they do.
 * Known answer: take() waits for accounts, held by "left", and for ledger, held by "right"; main waits
 * for both to end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have_one;

static __attribute__((noinline, noclone)) void take(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

static void *run_left(void *data)
{
	pthread_setname_np(pthread_self(), "left");
	take(&accounts);
	pthread_barrier_wait(&both_have_one);
	take(&ledger);
	return data;
}

static void *run_right(void *data)
{
	pthread_setname_np(pthread_self(), "right");
	take(&ledger);
	pthread_barrier_wait(&both_have_one);
	take(&accounts);
	return data;
}

/* In their last call the kernel shows them asleep. */
static int is_asleep(const char *name)
{
	char command[64], state = 0;
	FILE *file;

	snprintf(command, sizeof(command), "grep -ls '(%s) S' /proc/%d/task/*/stat", name, getpid());
	file = popen(command, "r");
	state = file ? fgetc(file) : EOF;
	if (file)
		pclose(file);
	return state == '/';
}

int main(void)
{
	pthread_t left, right;

	pthread_barrier_init(&both_have_one, NULL, 2);
	pthread_create(&left, NULL, run_left, NULL);
	pthread_create(&right, NULL, run_right, NULL);
	/* One after the other may be, at the barrier; not the first one twice. */
	while (!is_asleep("left") || !is_asleep("right") || !is_asleep("left"))
		usleep(1000);
	puts("stuck");
	fflush(stdout);
	pthread_join(left, NULL);
	pthread_join(right, NULL);
	return 0;
}
