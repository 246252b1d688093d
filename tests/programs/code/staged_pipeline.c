// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four stages that hand items on through queues of two. Known answer: compress_block() leads; the stages
 * after it wait for it, and the one before it for a place in its queue.
 */
#include "code_log.h"

enum { READ_BLOCK, PARSE_BLOCK, COMPRESS_BLOCK, WRITE_BLOCK, STAGES, PLACES = 2 };

static const char *const names[] = { "read_block", "parse_block", "compress_block", "write_block", NULL };

WORK(read_block, READ_BLOCK)
WORK(parse_block, PARSE_BLOCK)
WORK(compress_block, COMPRESS_BLOCK)
WORK(write_block, WRITE_BLOCK)

static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count;
	bool is_over;
} queues[STAGES]; /* before each stage; the first one's is not used */

static void put(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == PLACES)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->count++;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

static bool take(struct queue *queue)
{
	bool has_item;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && !queue->is_over)
		pthread_cond_wait(&queue->changed, &queue->lock);
	has_item = queue->count;
	queue->count -= has_item;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return has_item;
}

static void end(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_over = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

static void work(int stage)
{
	if (stage == READ_BLOCK)
		read_block(300);
	else if (stage == PARSE_BLOCK)
		parse_block(700);
	else if (stage == COMPRESS_BLOCK)
		compress_block(2500);
	else
		write_block(500);
}

static void run(int stage)
{
	while (stage ? take(&queues[stage]) : log_is_time()) {
		work(stage);
		if (stage + 1 < STAGES)
			put(&queues[stage + 1]);
	}
	if (stage + 1 < STAGES)
		end(&queues[stage + 1]);
}

int main(int argc, char **argv)
{
	struct role stages[STAGES];

	log_open(argc, argv, names);
	for (int i = 0; i < STAGES; i++) {
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].changed, NULL);
	}
	role_start_all(stages, STAGES, "stage-%d", run);
	role_join_all(stages, STAGES);
	return 0;
}
