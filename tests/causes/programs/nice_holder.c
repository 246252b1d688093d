// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a thread of low priority keeps a cache for three others, under a lock, and has to share its CPU with
 * two threads that compute: it waits for the CPU while it holds the lock. Cured: those have the other CPU.
 * Known answer: the CPU is taken by `batch`, while tidy_cache() holds cache_lock.
 */
#include "planted.h"
#include <sched.h>
#include <sys/resource.h>

enum { READERS = 3, BATCHES = 2, TIDY_US = 500, READ_US = 50, NICE = 10 };

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tidied = PTHREAD_COND_INITIALIZER;
static uint64_t reads, tidies; /* owned by cache_lock */

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static OWN_FRAME void tidy_cache(void)
{
	pthread_mutex_lock(&cache_lock);
	burn_us(TIDY_US);
	tidies++;
	pthread_cond_broadcast(&tidied);
	pthread_mutex_unlock(&cache_lock);
}

static OWN_FRAME void read_cache(void)
{
	pthread_mutex_lock(&cache_lock);
	/* Each state of the cache is read by all of them once. */
	while (reads >= tidies * READERS)
		pthread_cond_wait(&tidied, &cache_lock);
	reads++;
	pthread_mutex_unlock(&cache_lock);
	burn_us(READ_US);
}

static OWN_FRAME void compute_batch(void)
{
	burn_us(5000);
}

static void run_reader(int number)
{
	for (number = 0;; number++) {
		read_cache();
		planted_done(1);
	}
}

static void run_keeper(int number)
{
	move_to(0);
	if (setpriority(PRIO_PROCESS, gettid(), NICE))
		die("setpriority");
	for (number = 0;; number++)
		tidy_cache();
}

static void run_batch(int number)
{
	move_to(is_cured);
	for (number = 0;; number++)
		compute_batch();
}

int main(int argc, char **argv)
{
	struct role readers[READERS], keeper, batches[BATCHES];

	planted_open(argc, argv);
	role_start_all(readers, READERS, "reader-%d", run_reader);
	role_start_all(batches, BATCHES, "batch-%d", run_batch);
	role_start(&keeper, "keeper", run_keeper, 0);
	role_join_all(readers, READERS);
	return 0;
}
