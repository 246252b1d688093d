// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a pipeline of one `read`, four `work-N` and one `write` thread over two
 * bounded queues (mutex and condition variables); an item costs the writer about 5 ms, a worker 1
 * ms and the reader 0.2 ms.
 * Known answer: write_item(), in the thread `write`, leads the critical paths; of the waits, the
 * heaviest is `condition`, in queue_push() called from transform_stage() (the queue to the writer
 * is full), and the waker of those waits is queue_pop() in `write`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { ITEMS = 400, WORKERS = 4, CAPACITY = 8 };
enum { READ_LOOPS = 180000, TRANSFORM_LOOPS = 900000, WRITE_LOOPS = 4500000 };

struct queue {
	pthread_mutex_t lock; /* owns all below */
	pthread_cond_t not_full, not_empty;
	uint64_t items[CAPACITY];
	unsigned head, count;
};

static struct queue to_transform = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0
};
static struct queue to_write = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0
};

static __attribute__((noinline)) void queue_push(struct queue *queue, uint64_t item)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == CAPACITY)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->items[(queue->head + queue->count++) % CAPACITY] = item;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

static __attribute__((noinline)) uint64_t queue_pop(struct queue *queue)
{
	uint64_t item;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	item = queue->items[queue->head];
	queue->head = (queue->head + 1) % CAPACITY;
	queue->count--;
	pthread_cond_signal(&queue->not_full);
	pthread_mutex_unlock(&queue->lock);
	return item;
}

static inline uint64_t spin(uint64_t x, int loops)
{
	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x | 1; /* 0 means the end of the stream */
}

static __attribute__((noinline)) uint64_t read_item(uint64_t number)
{
	return spin(number, READ_LOOPS);
}

static __attribute__((noinline)) uint64_t transform_item(uint64_t item)
{
	return spin(item, TRANSFORM_LOOPS);
}

static __attribute__((noinline)) uint64_t write_item(uint64_t item)
{
	return spin(item, WRITE_LOOPS);
}

static void *read_stage(void *data)
{
	(void)data;
	for (int i = 0; i < ITEMS; i++)
		queue_push(&to_transform, read_item(i));
	for (int i = 0; i < WORKERS; i++)
		queue_push(&to_transform, 0);
	return NULL;
}

static void *transform_stage(void *data)
{
	uint64_t item;

	(void)data;
	while ((item = queue_pop(&to_transform)))
		queue_push(&to_write, transform_item(item));
	queue_push(&to_write, 0);
	return NULL;
}

static void *write_stage(void *data)
{
	uint64_t *checksum = data;

	for (int running = WORKERS; running;) {
		uint64_t item = queue_pop(&to_write);

		if (item)
			*checksum += write_item(item);
		else
			running--;
	}
	return NULL;
}

static pthread_t start(const char *name, void *(*stage)(void *), void *data)
{
	pthread_t thread;

	pthread_create(&thread, NULL, stage, data);
	pthread_setname_np(thread, name);
	return thread;
}

int main(void)
{
	pthread_t threads[WORKERS + 2];
	uint64_t checksum = 0;

	threads[0] = start("read", read_stage, NULL);
	for (int i = 0; i < WORKERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "work-%d", i);
		threads[1 + i] = start(name, transform_stage, NULL);
	}
	threads[WORKERS + 1] = start("write", write_stage, &checksum);
	for (int i = 0; i < WORKERS + 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d items, checksum %016llx\n", ITEMS, (unsigned long long)checksum);
	return 0;
}
