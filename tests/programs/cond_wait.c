// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: four threads, `consumer-0` to `consumer-3`, wait for items. Twelve times the
 * thread `producer` (main) computes for 60 ms, when all four wait, and puts one.
 * Known answer: the heaviest wait is `condition`, on not_empty, in take_item(); its waker is
 * put_item() in `producer`, which computes in produce_late(). Nobody waits long for queue_lock.
 */
#include "roles.h"

enum { CONSUMERS = 4, ITEMS = 12, ITEM_MS = 60 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int queued;             /* owned by queue_lock */
static int items_left = ITEMS; /* owned by queue_lock */

/* Each consumer's last item, one that none are left for, tells it to end. */
static OWN_FRAME int take_item(void)
{
	int is_item;

	pthread_mutex_lock(&queue_lock);
	while (!queued)
		pthread_cond_wait(&not_empty, &queue_lock);
	queued--;
	is_item = items_left-- > 0;
	pthread_mutex_unlock(&queue_lock);
	return is_item;
}

static OWN_FRAME void put_item(void)
{
	pthread_mutex_lock(&queue_lock);
	queued++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&queue_lock);
}

static OWN_FRAME void produce_late(void)
{
	compute_ms(ITEM_MS);
}

static void consume(int number)
{
	(void)number;
	while (take_item())
		;
}

int main(void)
{
	struct role consumers[CONSUMERS];

	role_name_self("producer");
	role_start_all(consumers, CONSUMERS, "consumer-%d", consume);
	for (int i = 0; i < ITEMS + CONSUMERS; i++) {
		if (i < ITEMS) {
			role_await_all(consumers, CONSUMERS, SYS_futex);
			produce_late();
		}
		put_item();
	}
	role_join_all(consumers, CONSUMERS);
	return 0;
}
