// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a pool of four threads gets batches of fifteen thumbnails and, behind them, one video, which takes
 * 30 times as long: three of four wait for the next batch. Cured: the video comes in as many parts as there are
 * thumbnails.
 * Known answer: encode_video().
 */
#include "planted.h"

enum { WORKERS = 4, THUMBNAILS = 15, THUMBNAIL_US = 4000, VIDEO_US = 120000 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_added = PTHREAD_COND_INITIALIZER, batch_done = PTHREAD_COND_INITIALIZER;
static int next_task = 2 * THUMBNAILS, ended_tasks, task_count; /* owned by pool_lock */

static OWN_FRAME void resize_thumbnail(void)
{
	burn_us(THUMBNAIL_US);
}

static OWN_FRAME void encode_video(unsigned parts)
{
	burn_us(VIDEO_US / parts);
}

static void run_task(int task)
{
	if (task < THUMBNAILS)
		resize_thumbnail();
	else
		encode_video(is_cured ? THUMBNAILS : 1);
}

static void run_worker(int number)
{
	for (number = 0;; number++) {
		int task;

		pthread_mutex_lock(&pool_lock);
		while (next_task >= task_count)
			pthread_cond_wait(&work_added, &pool_lock);
		task = next_task++;
		pthread_mutex_unlock(&pool_lock);
		run_task(task);
		pthread_mutex_lock(&pool_lock);
		if (++ended_tasks == task_count)
			pthread_cond_signal(&batch_done);
		pthread_mutex_unlock(&pool_lock);
	}
}

static OWN_FRAME void run_batch(void)
{
	pthread_mutex_lock(&pool_lock);
	next_task = ended_tasks = 0;
	task_count = THUMBNAILS + (is_cured ? THUMBNAILS : 1);
	pthread_cond_broadcast(&work_added);
	while (ended_tasks < task_count)
		pthread_cond_wait(&batch_done, &pool_lock);
	pthread_mutex_unlock(&pool_lock);
}

int main(int argc, char **argv)
{
	struct role workers[WORKERS];

	planted_open(argc, argv);
	role_start_all(workers, WORKERS, "pool-%d", run_worker);
	for (;;) {
		run_batch();
		planted_done(1);
	}
}
