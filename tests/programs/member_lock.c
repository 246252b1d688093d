// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: locks that are members of a structure, of a structure within it, and of an
 * element of an array. Of each the thread `holder` (main) takes the lock and computes for 200 ms
 * when three threads, named after what they want, wait for it.
 * Known answer: the waits are `lock`, in read_cache() on cache.lock, in read_statistics() on
 * cache.statistics.lock, in read_shard() on shards[3].lock, and in read_cell() on grid[1][2].lock.
 * `holder` holds them all, and wakes the first of each three.
 */
#include "roles.h"

enum { WAITERS = 3, HOLD_MS = 200 };

struct cache {
	int size;
	struct entry {
		long key, value;
	} entries[4];
	pthread_mutex_t lock; /* owns all but statistics */
	struct {
		long hits;
		pthread_mutex_t lock;
	} statistics;
};

struct shard {
	char name[20];
	int count; /* owned by lock */
	pthread_mutex_t lock;
};

struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .statistics.lock = PTHREAD_MUTEX_INITIALIZER };
static struct shard shards[8] = { [3].lock = PTHREAD_MUTEX_INITIALIZER };
static struct shard grid[2][3] = { [1][2].lock = PTHREAD_MUTEX_INITIALIZER };

static OWN_FRAME void read_cache(int number)
{
	(void)number;
	pthread_mutex_lock(&cache.lock);
	cache.size++;
	pthread_mutex_unlock(&cache.lock);
}

static OWN_FRAME void read_statistics(int number)
{
	(void)number;
	pthread_mutex_lock(&cache.statistics.lock);
	cache.statistics.hits++;
	pthread_mutex_unlock(&cache.statistics.lock);
}

static OWN_FRAME void read_shard(int number)
{
	(void)number;
	pthread_mutex_lock(&shards[3].lock);
	shards[3].count++;
	pthread_mutex_unlock(&shards[3].lock);
}

static OWN_FRAME void read_cell(int number)
{
	(void)number;
	pthread_mutex_lock(&grid[1][2].lock);
	grid[1][2].count++;
	pthread_mutex_unlock(&grid[1][2].lock);
}

static OWN_FRAME void hold(pthread_mutex_t *lock, const char *name, void (*run)(int))
{
	struct role waiters[WAITERS];

	pthread_mutex_lock(lock);
	role_start_all(waiters, WAITERS, name, run);
	role_await_all(waiters, WAITERS, SYS_futex);
	compute_ms(HOLD_MS);
	pthread_mutex_unlock(lock);
	role_join_all(waiters, WAITERS);
}

int main(void)
{
	role_name_self("holder");
	hold(&cache.lock, "cache-%d", read_cache);
	hold(&cache.statistics.lock, "statistics-%d", read_statistics);
	hold(&shards[3].lock, "shard-%d", read_shard);
	hold(&grid[1][2].lock, "cell-%d", read_cell);
	return 0;
}
