// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a pool of two threads runs tasks that put a task into the same pool and wait for it: both threads
 * wait, and nobody is left to run what they wait for. Prints `hung` first. Cured: a third thread.
 * Known answer: a hang: both threads of the pool wait in render_page(), for image_loaded.
 */
#include "planted.h"

enum { PAGES = 2, CAPACITY = 8 };
enum task { RENDER_PAGE, LOAD_IMAGE };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t task_added = PTHREAD_COND_INITIALIZER, image_loaded = PTHREAD_COND_INITIALIZER;
/* Owned by pool_lock. */
static enum task tasks[CAPACITY];
static unsigned first, end, images;

static void add_task(enum task task)
{
	tasks[end++ % CAPACITY] = task;
	pthread_cond_signal(&task_added);
}

static OWN_FRAME void render_page(void)
{
	add_task(LOAD_IMAGE);
	while (!images)
		pthread_cond_wait(&image_loaded, &pool_lock);
	images--;
	add_task(RENDER_PAGE);
}

static OWN_FRAME void load_image(void)
{
	images++;
	pthread_cond_signal(&image_loaded);
	planted_done(1);
}

static void run_worker(int number)
{
	pthread_mutex_lock(&pool_lock);
	for (number = 0;; number++) {
		while (first == end)
			pthread_cond_wait(&task_added, &pool_lock);
		if (tasks[first++ % CAPACITY] == RENDER_PAGE)
			render_page();
		else
			load_image();
	}
}

int main(int argc, char **argv)
{
	struct role workers[PAGES + 1];
	int count;

	planted_open(argc, argv);
	count = PAGES + is_cured;
	for (int i = 0; i < PAGES; i++)
		add_task(RENDER_PAGE);
	role_start_all(workers, count, "pool-%d", run_worker);
	if (!is_cured) {
		role_await_all(workers, count, SYS_futex);
		dprintf(STDOUT_FILENO, "hung\n");
	}
	role_join_all(workers, count);
	return 0;
}
