// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stages of a pipeline hand on to each other: pointers, first in, first out, through few places. Any number of
 * threads may be on both sides. A queue has ended when each of the threads that fill it has said so.
 */
#pragma once

#include "code_log.h"

enum { QUEUE_PLACES = 8 };

struct stage_queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	void *items[QUEUE_PLACES];
	unsigned first, count, producers;
};

#define STAGE_QUEUE(threads)                                                              \
	{                                                                                 \
		.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, \
		.not_full = PTHREAD_COND_INITIALIZER, .producers = (threads),             \
	}

static void enqueue(struct stage_queue *queue, void *item)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == QUEUE_PLACES)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->items[(queue->first + queue->count++) % QUEUE_PLACES] = item;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

/* NULL: the queue is empty and has ended. */
static void *dequeue(struct stage_queue *queue)
{
	void *item = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && queue->producers)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	if (queue->count) {
		item = queue->items[queue->first++ % QUEUE_PLACES];
		queue->count--;
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

/* By each thread that fills it, once. */
static void end_queue(struct stage_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->producers--;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

/* Threads of one stage: they bear no name of their own, as in the programs of the papers. */
static void start_stage(pthread_t *threads, int count, void *(*run)(void *))
{
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			die("pthread_create");
}
