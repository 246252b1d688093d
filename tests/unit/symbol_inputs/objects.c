/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of C, as many kinds as there are. */
#include "objects.h"

pthread_mutex_t work_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t hidden_lock = PTHREAD_RWLOCK_INITIALIZER;
sem_t semaphores[3];
struct shard shards[4][2];
struct shard *shard_pointer = &shards[1][1];
struct sized sized = { 2, { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER } };
const struct shard constant_shard = { .hits = 3 };
__thread int own_to_each_thread;

__attribute__((noinline)) int first(int by)
{
	static int count = 1;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	count += by;
	pthread_mutex_unlock(&lock);
	return count;
}

__attribute__((noinline)) int second(int by)
{
	static int count = 2;

	if (by) {
		static struct shard inner;

		pthread_mutex_lock(&inner.lock);
		inner.hits += by;
		count += inner.hits;
	}
	return count;
}

static inline int inlined(int by)
{
	static int inlined_count;

	return inlined_count += by;
}

int work(int by)
{
	int value;

	pthread_rwlock_rdlock(&hidden_lock);
	pthread_mutex_lock(&work_mutex);
	shards[by & 3][0].hits++;
	value = first(by) + second(by) + inlined(by) + own_to_each_thread + (int)constant_shard.hits;
	pthread_mutex_unlock(&work_mutex);
	pthread_rwlock_unlock(&hidden_lock);
	return value + inlined(value);
}

#ifndef IS_LIBRARY
int pause(void);

int main(int count, char **args)
{
	(void)args;
	/* An argument: for tests that look at a living process. */
	while (count > 1)
		pause();
	return work(count) == -1;
}
#endif
