// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * staffed_stages REFINERS PACKERS [PERCENT]	(100)
 * Three stages as those of a deduplicating compressor: `cutter` (main) hands out ITEMS blocks, so many threads
 * `refine-N` prepare each, and so many `pack-N` compress it, which takes PERCENT of four times as long.
 * Known answer: groups cutter, refine-* and pack-* have as many threads as given, whatever their CMetric; with
 * another PERCENT compress_block() has another CPU time, refine_block() the same.
 */
#include "roles.h"

enum { ITEMS = 400, PLACES = 8, STAGE_THREADS_MAX = 16, UNIT = 200 };

static unsigned percent = 100;

static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count, left; /* left: of all items, those that have not been taken */
} to_refine = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, ITEMS },
  to_pack = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, ITEMS };

static void put(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == PLACES)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->count++;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

/* 0: there are no more. */
static int take(struct queue *queue)
{
	int is_taken;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && queue->left)
		pthread_cond_wait(&queue->changed, &queue->lock);
	is_taken = queue->left > 0;
	queue->count -= is_taken;
	queue->left -= is_taken;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return is_taken;
}

/* About 0.1 us for each count, whatever the clock says. */
static void spend(unsigned count)
{
	volatile uint64_t sink;
	uint64_t x = count;

	for (unsigned i = 0; i < count * 100; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	sink = x;
	(void)sink;
}

static OWN_FRAME void refine_block(void)
{
	spend(10 * UNIT);
	__asm__ volatile("");
}

static OWN_FRAME void compress_block(void)
{
	spend(40 * UNIT * percent / 100);
	__asm__ volatile("");
}

static void refine(int number)
{
	(void)number;
	while (take(&to_refine)) {
		refine_block();
		put(&to_pack);
	}
}

static void pack(int number)
{
	(void)number;
	while (take(&to_pack))
		compress_block();
}

int main(int argc, char **argv)
{
	static struct role refiners[STAGE_THREADS_MAX], packers[STAGE_THREADS_MAX];
	int refiner_count = argc > 1 ? atoi(argv[1]) : 1, packer_count = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 3)
		percent = atoi(argv[3]);
	if (refiner_count < 1 || packer_count < 1 || refiner_count > STAGE_THREADS_MAX ||
	    packer_count > STAGE_THREADS_MAX)
		return 2;
	role_name_self("cutter");
	role_start_all(refiners, refiner_count, "refine-%d", refine);
	role_start_all(packers, packer_count, "pack-%d", pack);
	for (int i = 0; i < ITEMS; i++)
		put(&to_refine);
	role_join_all(refiners, refiner_count);
	role_join_all(packers, packer_count);
	return 0;
}
