// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a pool of four threads, `worker-0` to `worker-3`, each with a queue of its
 * own. Of 64 requests, of 15 ms each, `worker-0` gets 61 and each of the others one. Only when all
 * are served are the queues closed.
 * Known answer: `worker-0` leads by serve_request(), with nearly all of the CMetric. The other
 * workers wait in take_request(), a `condition`, on queues[1].not_empty to queues[3].not_empty, for
 * close_queues() in main.
 */
#include "roles.h"

enum { WORKERS = 4, REQUESTS = 64, SERVE_MS = 15 };

struct queue {
	pthread_mutex_t lock; /* owns all below */
	pthread_cond_t not_empty, served;
	int waiting, is_closed;
};

static struct queue queues[WORKERS];

static OWN_FRAME int take_request(struct queue *queue)
{
	int is_request;

	pthread_mutex_lock(&queue->lock);
	while (!queue->waiting && !queue->is_closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	is_request = queue->waiting > 0;
	pthread_mutex_unlock(&queue->lock);
	return is_request;
}

static OWN_FRAME void serve_request(struct queue *queue)
{
	compute_ms(SERVE_MS);
	pthread_mutex_lock(&queue->lock);
	if (!--queue->waiting)
		pthread_cond_signal(&queue->served);
	pthread_mutex_unlock(&queue->lock);
}

static void work(int number)
{
	while (take_request(&queues[number]))
		serve_request(&queues[number]);
}

static OWN_FRAME void put_request(int key)
{
	struct queue *queue = &queues[key < WORKERS ? key : 0];

	pthread_mutex_lock(&queue->lock);
	queue->waiting++;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

static OWN_FRAME void await_served(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->waiting)
		pthread_cond_wait(&queue->served, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
}

static OWN_FRAME void close_queues(void)
{
	for (int i = 0; i < WORKERS; i++) {
		pthread_mutex_lock(&queues[i].lock);
		queues[i].is_closed = 1;
		pthread_cond_signal(&queues[i].not_empty);
		pthread_mutex_unlock(&queues[i].lock);
	}
}

int main(void)
{
	struct role workers[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].not_empty, NULL);
		pthread_cond_init(&queues[i].served, NULL);
	}
	role_start_all(workers, WORKERS, "worker-%d", work);
	for (int i = 0; i < REQUESTS; i++)
		put_request(i);
	for (int i = 0; i < WORKERS; i++)
		await_served(&queues[i]);
	close_queues();
	role_join_all(workers, WORKERS);
	return 0;
}
