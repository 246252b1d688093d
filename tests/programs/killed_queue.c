// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted: a child process passes 200,000 items from five producers to three consumers, through a queue of ten. Then the
 * consumers wait for nothing, for two seconds, until the parent kills the child.
 * Known answer: hundreds of thousands of short waits, whose stacks are kept by chance, and three long ones for the same
 * condition, whose ends no thread of the child makes. No row may be more than all waits of its cause.
 */
#include "roles.h"

enum { PRODUCERS = 5, CONSUMERS = 3, ITEMS = 40000, QUEUE_MAX = 10, IDLE_MS = 2000 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int queued; /* owned by queue_lock */

static OWN_FRAME void put_item(void)
{
	pthread_mutex_lock(&queue_lock);
	while (queued == QUEUE_MAX)
		pthread_cond_wait(&not_full, &queue_lock);
	queued++;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(&not_empty);
}

static OWN_FRAME void take_item(void)
{
	pthread_mutex_lock(&queue_lock);
	while (!queued)
		pthread_cond_wait(&not_empty, &queue_lock);
	queued--;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(&not_full);
}

static void produce(int number)
{
	(void)number;
	for (int i = 0; i < ITEMS; i++)
		put_item();
}

static void consume(int number)
{
	(void)number;
	for (;;)
		take_item();
}

static void pass_items(int done)
{
	struct role producers[PRODUCERS], consumers[CONSUMERS];

	role_start_all(consumers, CONSUMERS, "consumer-%d", consume);
	role_start_all(producers, PRODUCERS, "producer-%d", produce);
	role_join_all(producers, PRODUCERS);
	role_await_all(consumers, CONSUMERS, SYS_futex);
	if (write(done, "", 1) != 1)
		die("write");
	for (;;)
		pause();
}

int main(void)
{
	int done[2];
	pid_t child;
	char byte;

	if (pipe(done))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		pass_items(done[1]);
	if (read(done[0], &byte, 1) != 1)
		die("read");
	usleep(IDLE_MS * 1000);
	kill(child, SIGTERM);
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	return 0;
}
